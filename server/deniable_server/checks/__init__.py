"""What operators and survey teams check: the doctor for an installation, the audit for a randomiser."""
