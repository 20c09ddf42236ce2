"""The common shape of everything a user writes: checked once, frozen, the same in Python and in TOML."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, dataclass_transform

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from nearfield.entry.errors import ModelError
from nearfield.entry.masked import unmasked
from nearfield.entry.messages import readable, unknown


class Short(ast.NodeTransformer):
    """Leaves of each `Annotated[X, ...]` of an annotation its `X`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        return node.slice.elts[0] if ast.unparse(node.value) == "Annotated" else node  # type: ignore[attr-defined]


class Alias(str):
    """A type by the name that the source gives it: printed without quotes."""

    __repr__ = str.__str__


class ShortSignature:
    """Signature of an entry, made when it is read: fields in the order of positional use, types by their names."""

    def __get__(self, instance: object, entry: type[BaseModel]) -> inspect.Signature:
        named: dict[str, str] = {}
        for kind in reversed(entry.__mro__):
            named |= inspect.get_annotations(kind)
        parameters = []
        for name, field in entry.model_fields.items():
            if name == "kind":
                continue
            annotation = Alias(ast.unparse(Short().visit(ast.parse(named[name], mode="eval"))))
            parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
            parameters.append(parameter if field.is_required() else parameter.replace(default=field.default))
        return inspect.Signature(parameters, __validate_parameters__=False)  # a field with a default may come first


def field_texts(entry: type[Entry]) -> dict[str, str]:
    """The docstring below each field of an entry, own and inherited; read from the source when it is asked for.

    pydantic's `use_attribute_docstrings` reads the source of all entries at their import.
    """
    found: dict[str, str] = {}
    for kind in reversed(entry.__mro__):
        if not kind.__module__.startswith(__package__.partition(".")[0]):
            continue
        source: Any = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        for field, below in pairwise(source.body):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ) if name in entry.model_fields:
                    found[name] = inspect.cleandoc(text)
    return found


def tag(name: Any, *, init: Literal[False] = False) -> Any:
    """Default of a field `kind`, which no constructor takes: TOML alone gives it."""
    return name


if TYPE_CHECKING:  # pydantic's own base tells type checkers that entries take keywords alone

    @dataclass_transform(frozen_default=True, field_specifiers=(tag,))
    class Entry:
        """What is used of pydantic's base."""

        model_config: ClassVar[ConfigDict]
        model_fields: ClassVar[dict[str, FieldInfo]]

        @property
        def model_fields_set(self) -> set[str]: ...
        @classmethod
        def model_validate(cls, obj: Any) -> Self: ...
        def model_copy(self, *, update: dict[str, Any] | None = None) -> Self: ...
        def __copy__(self) -> Self: ...
        def model_dump(self, **options: Any) -> dict[str, Any]: ...

else:
    Entry = BaseModel


class Schema(Entry):
    """Base of all model entries: immutable, unknown keys refused, positional arguments in field order.

    The field `kind`, where there is one, tells union members apart in TOML; it is never positional.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    def __init__(self, /, *args: Any, **values: Any) -> None:
        name = type(self).__name__
        fields = [field for field in type(self).model_fields if field != "kind"]
        if len(args) > len(fields):
            raise ModelError(f"{name} takes at most {len(fields)} values ({', '.join(fields)}), given {len(args)}")
        for field, value in zip(fields, args):
            if field in values:
                raise ModelError(f"{name}: `{field}` is given twice, by position and by name")
            values[field] = value
        for field, value in values.items():
            unmasked(f"{name}: {field}", value)
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ModelError(readable(error, type(self), values)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in type(self).model_fields:
            raise ModelError(
                f"{type(self).__name__}.{name}: entries do not change once they are made. Make another, or a changed "
                f'copy of the whole by its place, such as sim.replace("grid.maximum_frequency", "3 GHz")'
            )
        super().__setattr__(name, value)

    # pydantic calls an __init__ of one's own for nested entries too, and their errors would lose their places
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        cls.__signature__ = ShortSignature()  # type: ignore[attr-defined]

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        made = handler(schema)
        fields = handler.resolve_ref_schema(made).get("properties", {})
        for name, text in field_texts(cls).items():
            if name in fields:
                fields[name]["description"] = text
        return made

    def model_copy(self, *, update: dict[str, Any] | None = None, deep: bool = False) -> Self:
        """pydantic's copy with other values, which are not checked. Error: names that the entry lacks."""
        for name in update or ():
            if name not in type(self).model_fields:
                refused = unknown("entry", str(name), (field for field in type(self).model_fields if field != "kind"))
                raise ModelError(f"{type(self).__name__}: {refused}")
        return super().model_copy(update=update, **({"deep": True} if deep else {}))

    def _as_stated(self) -> dict[str, Any]:
        """The fields that were given, with which the entry can be made anew."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    def __dir__(self) -> list[str]:
        """Fields and public members of the entry, which completion shows, without those of every model of pydantic."""
        own = (kind for kind in type(self).__mro__ if issubclass(kind, Schema) and kind is not Schema)
        names = {name for kind in own for name in (*kind.model_fields, *vars(kind))}
        return sorted(name for name in names if not name.startswith(("_", "model_")))

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """The fields that were given."""
        given = (name for name in type(self).model_fields if name in self.model_fields_set and name != "kind")
        return ((name, getattr(self, name)) for name in given)

    def __eq__(self, other: object) -> bool:
        """Equal entries; what an entry has computed and kept since (arrays, often) says nothing about that."""
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).model_fields)
