"""One call of a module: its inputs, its outputs checked, and copied into their planes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from eagle.errors import GraphError, PlaneError
from eagle.plugin import Placed
from eagle_torch.nodes import Module
from eagle_torch.views import tensor_of

__all__ = ["ModuleCall"]

_version = attrgetter("_version")


class ModuleCall:
    """Calls a module on tensors over the planes of a node.

    Parameters
    ----------
    placed : Placed
        The node.
    device : int, optional
        The ordinal of the device that the planes are on.
    """

    def __init__(self, placed: Placed[Module], device: int | None = None) -> None:
        payload = placed.node.payload
        tensors = {plane.access.name: tensor_of(plane, device) for plane in placed.planes}
        self.placed = placed
        self.model = payload.model
        self.inputs = tuple(tensors[name] for name in payload.reads)
        self.names = tuple(payload.writes)
        self.targets = tuple(tensors[name] for name in payload.writes)
        self._wanted = tuple((one.shape, one.dtype) for one in self.targets)
        self._only = len(self.targets) == 1  # as most modules have it, and the loops below take time
        watched = [one for one in payload.reads if one not in payload.writes and not tensors[one].is_inference()]
        self._watched, self._watched_names = tuple(tensors[name] for name in watched), tuple(watched)
        # An output can be a view of an input, and change while another one is copied into its plane.
        taken = {one.untyped_storage().data_ptr() for one in (*self.inputs, *self.model.buffers())}
        self._entangled = any(one.untyped_storage().data_ptr() in taken for one in self.targets)
        self._on_target = False  # whether outputs were once seen to be on their planes' device
        self._tensor = sys.modules["torch"].Tensor
        self._inference = sys.modules["torch"].inference_mode()

    def __call__(self) -> None:
        """Call the module and copy its outputs into their planes.

        Raises
        ------
        GraphError
            It is in training mode, or returned something that is not its outputs.
        PlaneError
            An output of another shape, dtype or device than its plane, or an input that the module changed.
        """
        with self._inference:
            outputs = self.outputs()
            if self._only:
                self.targets[0].copy_(outputs[0])
                return
            for target, output in zip(self.targets, outputs, strict=True):
                target.copy_(output)

    def outputs(self) -> Sequence[Any]:
        """Return what the module gives, one tensor per plane, checked; called in inference mode."""
        model, watched = self.model, self._watched
        if model.training:
            raise self._in_training()
        before = sum(map(_version, watched))  # each of them only ever grows
        returned = model(*self.inputs)
        if sum(map(_version, watched)) != before:
            raise self._changed()
        if self._only and type(returned) is self._tensor:
            outputs: Sequence[Any] = (returned,)
            shape, dtype = self._wanted[0]
            if returned.shape != shape or returned.dtype != dtype:
                raise self._mismatch(self.names[0], returned, self._wanted[0])
        else:
            outputs = self._sorted(returned)
            for name, wanted, output in zip(self.names, self._wanted, outputs, strict=True):
                if (output.shape, output.dtype) != wanted:
                    raise self._mismatch(name, output, wanted)
        if not self._on_target:
            self._refuse_elsewhere(outputs)
        return [one.clone() for one in outputs] if self._entangled else outputs

    def _sorted(self, returned: Any) -> Sequence[Any]:
        """Return the outputs in the order of the planes."""
        if isinstance(returned, self._tensor):
            returned = (returned,)
        elif isinstance(returned, Mapping):
            if set(returned) != set(self.names):
                raise self._not_outputs(f"a mapping of {', '.join(map(repr, returned)) or 'nothing'}")
            returned = tuple(returned[name] for name in self.names)
        if (
            not isinstance(returned, (tuple, list))
            or len(returned) != len(self.names)
            or not all(isinstance(one, self._tensor) for one in returned)
        ):
            what = f"{len(returned)} values" if isinstance(returned, (tuple, list)) else f"a {type(returned).__name__}"
            raise self._not_outputs(what)
        return returned

    def _in_training(self) -> GraphError:
        return GraphError(
            f"the {type(self.model).__name__} is in training mode",
            why="dropout and normalisation do something else then, and change what is not declared",
            fix="Call model.eval() before the launch.",
            nodes=(self.placed.label,),
        )

    def _changed(self) -> PlaneError:
        names = self._watched_names
        which = "" if len(names) == 1 else f", one of {', '.join(map(repr, names))}"
        return PlaneError(
            f"the module changed an input in place{which}",
            why="the planes are declared as read, and the edges of the graph rest on that",
            fix="Name it in writes= too, or have the module work on a copy.",
            nodes=(self.placed.label,),
            planes=names,
        )

    def _not_outputs(self, what: str) -> GraphError:
        return GraphError(
            f"the {type(self.model).__name__} returned {what}",
            why=f"its node writes {', '.join(map(repr, self.names))}",
            fix="Return a tensor per plane, in the order of writes= or by their names.",
            nodes=(self.placed.label,),
        )

    def _mismatch(self, name: str, output: Any, wanted: tuple[Any, Any]) -> PlaneError:
        (shape, dtype), made = wanted, (tuple(output.shape), output.dtype)
        return PlaneError(
            f"the module gives {_spelled(*made)} and the plane holds {_spelled(tuple(shape), dtype)}",
            why="nothing is broadcast or converted behind your back",
            fix="Pass an array of that shape and dtype, or change the module.",
            nodes=(self.placed.label,),
            planes=(name,),
        )

    def _refuse_elsewhere(self, outputs: Sequence[Any]) -> None:
        for name, target, output in zip(self.names, self.targets, outputs, strict=True):
            if output.device != target.device:
                raise PlaneError(
                    f"the module gives a tensor on {output.device}, and the plane is on {target.device}",
                    fix="Move the model with model.to(device), or pass tensors of its device.",
                    nodes=(self.placed.label,),
                    planes=(name,),
                )
        self._on_target = True


def _spelled(shape: tuple[int, ...], dtype: object) -> str:
    return f"{str(dtype).removeprefix('torch.')}{list(shape)}"
