"""The parameters of an AWS operation as options, by the names that ``aws`` gives them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.model import ListShape, StringShape

from .._errors import UsageError
from . import values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from botocore.model import OperationModel, Shape, StructureShape

_KINDS = {
    "integer": "NUMBER",
    "long": "NUMBER",
    "float": "NUMBER",
    "double": "NUMBER",
    "timestamp": "TIME",
    "structure": "KEY=VALUE",
    "map": "KEY=VALUE",
    "list": "JSON",
    "blob": "BASE64",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation.

    Attributes:
        member: its name in the service's API, such as ``VolumeIds``.
        shape: what it takes, of botocore's model.
        required: whether the operation cannot do without it.
    """

    member: str
    shape: Shape
    required: bool = False

    @property
    def option(self) -> str:
        """The option's name, such as ``--volume-ids``."""
        return f"--{xform_name(self.member, '-')}"

    @property
    def options(self) -> tuple[str, ...]:
        """All names, for those that are on or off: ``--dry-run`` and ``--no-dry-run``."""
        negative = (f"--no-{self.option[2:]}",) if self.shape.type_name == "boolean" else ()
        return (self.option, *negative)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that the model names; empty if any will do."""
        shape = self.shape.member if isinstance(self.shape, ListShape) else self.shape
        return tuple(shape.enum) if isinstance(shape, StringShape) else ()

    def add_by(self, add: Callable[..., object]) -> None:
        """Add it to a command, by the ``add_argument`` of a parser or of a group of options."""
        note = "required" if self.required else None
        if self.shape.type_name == "boolean":
            on_or_off = argparse.BooleanOptionalAction
            add(self.option, dest=self.member, action=on_or_off, help=note)
        elif isinstance(self.shape, ListShape):
            kind = _kind(self.shape.member)
            add(self.option, dest=self.member, action=_Once, nargs="*", metavar=kind, help=note)
        else:
            kind = _kind(self.shape)
            add(self.option, dest=self.member, action=_Once, nargs=1, metavar=kind, help=note)

    def value(self, given: Any) -> Any:
        """Return the value for botocore.

        Args:
            given: what argparse found: words, or a bool.

        Raises:
            UsageError: it is no such value, or a list without an item, or empty.
        """
        if isinstance(given, bool):
            return given
        if not given:
            raise UsageError(f"{self.option} has no value, which would mean everything there is")
        if "" in given:
            raise UsageError(f"{self.option} has an empty value: is a variable not set?")
        try:
            return values.read(self.shape, given)
        except UsageError as error:
            raise UsageError(f"{self.option}: {error}") from None


class _Once(argparse.Action):
    """Stores the words of an option that may be given once.

    ``aws`` keeps the last of several, and so forgets to wait for the others.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "may be given once; name all values after it")
        setattr(namespace, self.dest, values)


def of(operation: OperationModel) -> tuple[Parameter, ...]:
    """Return the parameters of an operation, in the order of its model."""
    shape: StructureShape | None = operation.input_shape
    if shape is None:
        return ()
    required = set(shape.required_members)
    return tuple(Parameter(name, each, name in required) for name, each in shape.members.items())


def request(
    operation: OperationModel, given: Mapping[str, Any], document: str | None = None
) -> dict[str, Any]:
    """Return the parameters of a call, as botocore takes them.

    Args:
        operation: what is called.
        given: by member, what argparse found for it; None where it is not given.
        document: the text of ``--cli-input-json``; what is given besides wins over it.

    Raises:
        UsageError: a value is wrong or a required one is missing; the text names the option.
    """
    found = {} if document is None else _document(operation, document)
    known = of(operation)
    for each in known:
        words = given.get(each.member)
        if words is not None:
            found[each.member] = each.value(words)
    missing = [each.option for each in known if each.required and each.member not in found]
    if missing:
        raise UsageError(f"missing {', '.join(missing)}")
    return found


def _document(operation: OperationModel, text: str) -> dict[str, Any]:
    try:
        content = values.load(text)
        shape = operation.input_shape
        found = values.from_json(content if isinstance(content, str) else content.decode())
        if not isinstance(found, dict):
            raise UsageError("must be a JSON object with the parameters")
        return values.typed(shape, found) if shape is not None else {}
    except UsageError as error:
        raise UsageError(f"--cli-input-json: {error}") from None


def _kind(shape: Shape) -> str:
    return _KINDS.get(shape.type_name, "TEXT")
