"""What an object makes when it is first asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):
    """A property that is made when it is first read, and one time only, however many threads read it first.

    The object brings a re-entrant lock, `_mutex`, and keeps what was made under the property's name. The making must
    not use the store: a thread that holds the store may be waiting for the lock.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: Any, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> T | Self:
        if instance is None:
            return self
        kept: dict[str, T] = instance.__dict__
        with instance._mutex:
            if self._name not in kept:
                kept[self._name] = self._make(instance)
            return kept[self._name]
