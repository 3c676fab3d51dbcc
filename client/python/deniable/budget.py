"""Budgets: how much all that is sent from one device may spend, as an app writes it.

May not: round. 0.1 + 0.2 is 0.3 here.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TypeAlias

from deniable_protocol import DEFAULT_BUDGET, Account

Amount: TypeAlias = int | float | str | Decimal
Budget: TypeAlias = Amount | tuple[Amount, Amount]
"""An epsilon, or an epsilon and a delta."""


def exact_budget(budget: Budget | None) -> Account:
    """The budget as it was written. What is left out is that of DEFAULT_BUDGET."""
    if budget is None:
        return DEFAULT_BUDGET
    if not isinstance(budget, tuple):
        return Account(_exact(budget), DEFAULT_BUDGET.delta)
    if len(budget) != 2:
        raise ValueError("budget must be an epsilon, or an epsilon and a delta")
    return Account(*map(_exact, budget))


def _exact(amount: Amount) -> Fraction:
    """The decimal that was written. A float means its shortest decimal: 0.3, not 0.299999999999999988."""
    if isinstance(amount, bool) or not isinstance(amount, int | float | str | Decimal):
        raise TypeError("budget must be a number, or a decimal as text; or two of them, an epsilon and a delta")
    try:
        decimal = Decimal(float.__repr__(amount) if isinstance(amount, float) else amount)
    except InvalidOperation:
        raise ValueError("budget must be a decimal number") from None
    if not decimal.is_finite() or decimal < 0 or abs(decimal.adjusted()) > 100:
        raise ValueError("budget must be a finite number, and not negative")
    return Fraction(decimal)


def plain(amount: Fraction) -> str:
    """A finite decimal in full. Epsilons, deltas and budgets are decimals, and so are their sums."""
    places = 0
    while (amount * 10**places).denominator != 1:
        places += 1
    digits = str((amount * 10**places).numerator).rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}" if places else digits


def in_symbols(account: Account) -> str:
    delta = f", δ = {plain(account.delta)}" if account.delta else ""
    return f"ε = {plain(account.epsilon)}{delta}"
