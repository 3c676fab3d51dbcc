"""Surveys that are being written: what a draft has in it, how it changes, and what is still wrong with it.

A draft is a ``Sketch``: the same things that a survey file has, at any stage, with a key for each question and answer
that stays when texts, ids and places change. So two people can change the same draft, and both changes are kept.

May not: store anything, know HTTP, or publish.
"""

from __future__ import annotations

from .changes import BadChange as BadChange
from .changes import Change as Change
from .changes import Conflict as Conflict
from .changes import apply as apply
from .changes import replace as replace
from .faults import Fault as Fault
from .faults import faults_in as faults_in
from .faults import faults_of as faults_of
from .faults import placeholders as placeholders
from .faults import with_place as with_place
from .sketch import Answer as Answer
from .sketch import Item as Item
from .sketch import Sketch as Sketch
from .sketch import new_item as new_item
from .sketch import read as read
from .sketch import write as write
from .trees import from_file as from_file
from .trees import from_tree as from_tree
from .trees import survey_of as survey_of
from .trees import survey_to_plan as survey_to_plan
from .trees import to_toml as to_toml
from .trees import to_tree as to_tree
