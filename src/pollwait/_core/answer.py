"""What a fetch returned, key by key; and errors of which each caller gets one of its own."""

from __future__ import annotations

from collections.abc import Mapping

from .._errors import BatchError, FetchError, MissingKey, chain
from .callables import close_coroutine, is_awaitable
from .failure import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import Any

    from typing_extensions import TypeIs


def read(answer: object, keys: Iterable[Hashable]) -> dict[Any, Any]:
    """Return what an answer says of each key: a value, or the exception that is its error.

    Args:
        answer: what a fetch returned. Keys in it that were not asked for are ignored.
        keys: what the call carried.

    Returns:
        An entry for each of the keys. A ``BaseException`` in it is an error, anything else a value.
        A key that the answer lacks has a ``MissingKey``; where the answer is no mapping, all keys
        share one ``TypeError``. The errors are not for callers as they are: see ``private``.
    """
    if _is_mapping(answer):
        return _outcomes(answer, keys)
    return dict.fromkeys(keys, TypeError(_no_mapping(answer)))


def refuse_awaitable(answer: object, what: str, instead: str) -> None:
    """Raise TypeError if someone would have to await an answer.

    Args:
        answer: what was returned.
        what: which function returned it.
        instead: what awaits such answers.
    """
    if is_awaitable(answer):
        close_coroutine(answer)
        raise TypeError(
            f"{what} returned an awaitable ({type(answer).__name__}), which nothing awaits on"
            f" threads: use {instead}"
        )


def private(error: BaseException) -> Exception:
    """Return an exception for one caller alone, so that no two callers share a traceback.

    Args:
        error: what a call raised, or what its answer holds for a key.

    Returns:
        A copy with the same type, text and fields; a ``FetchError`` where there can be none, and
        for what is no ``Exception`` or would end a caller's loop as ``StopIteration`` does. Its
        cause is the error, unless pollwait made that one for the caller in the first place.
    """
    twin = _twin(error) if _may_be_raised_anywhere(error) else None
    if twin is None:
        twin = FetchError(f"the call failed with {shorten(error)}")
    made_here = isinstance(error, BatchError) and error.__traceback__ is None
    chain(twin, "__cause__", None if made_here else error)
    return twin


def _is_mapping(answer: object) -> TypeIs[Mapping[Any, Any]]:
    return isinstance(answer, Mapping)


def _outcomes(answer: Mapping[Any, Any], keys: Iterable[Hashable]) -> dict[Any, Any]:
    absent = object()
    outcomes: dict[Any, Any] = {}
    for key in keys:
        try:
            outcome = answer.get(key, absent)  # unlike [], it adds nothing to a defaultdict
        except Exception as error:  # of a mapping with ideas of its own
            outcome = error
        outcomes[key] = MissingKey(key) if outcome is absent else outcome
    return outcomes


def own(outcome: Any) -> Any:
    """Return an outcome for one caller alone: a value as it is, an error in private."""
    return private(outcome) if isinstance(outcome, BaseException) else outcome


def _no_mapping(answer: object) -> str:
    return f"fetch must return a mapping of keys to values: got {shorten(answer)}"


def _may_be_raised_anywhere(error: BaseException) -> bool:
    return isinstance(error, Exception) and not isinstance(error, StopIteration)


def _twin(error: BaseException) -> Any:
    try:
        twin: Any = _copied(error) if _says_how(type(error)) else _rebuilt(error)
        if isinstance(error, type(twin)) and type(twin) is not type(error):
            twin = _rebuilt(error)  # a class that turns into its base, as it pickles
    except Exception:  # whatever stops it from being copied
        return None
    if twin is error or type(twin) is not type(error):
        return None
    notes: Any = getattr(twin, "__notes__", None)
    if isinstance(notes, list):
        vars(twin)["__notes__"] = [*notes]
    return twin.with_traceback(None)


def _says_how(cls: type[Any]) -> bool:
    """Tell whether a class has a way of its own to be copied or pickled."""
    for owner in cls.__mro__:
        if owner.__module__ == "builtins":
            return False
        if not {"__copy__", "__reduce__", "__reduce_ex__"}.isdisjoint(vars(owner)):
            return True
    return False


def _copied(error: Any) -> Any:
    from copy import copy

    return copy(error)


def _rebuilt(error: BaseException) -> Any:
    """Copy an error without its constructor, which may want other arguments or change the text.

    ``copy.copy`` would call it with ``args``, which is rarely what it takes.
    """
    cls = type(error)
    builtin: Any = next(owner for owner in cls.__mro__ if owner.__module__ == "builtins")
    reduced: Any = builtin.__reduce__(error)
    _, arguments, *state = reduced
    twin = builtin.__new__(cls, *arguments)
    builtin.__init__(twin, *arguments)  # some keep what they were given in fields outside __dict__
    if state:
        twin.__setstate__(state[0])
    for name in _slots(cls):
        if hasattr(error, name):
            setattr(twin, name, getattr(error, name))
    return twin


def _slots(cls: type[Any]) -> list[str]:
    names: list[str] = []
    for owner in cls.__mro__:
        slots: Any = vars(owner).get("__slots__", ())
        names += [slots] if isinstance(slots, str) else slots
    return [name for name in names if not name.startswith("__")]
