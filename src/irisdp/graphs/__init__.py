"""Dataset graphs: explicit and in families, colourings and rankings, boundary and depth, morphisms."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._boundary import boundary, components, components_without_boundary, depth, interior, touching
    from ._boundary import touching_codes as touching_codes
    from ._capped_counts import (
        MOST_PARTS as MOST_PARTS,
    )
    from ._capped_counts import Gaps, capped_heights, order_graph
    from ._capped_counts import (
        Moves as Moves,
    )
    from ._capped_counts import (
        Offsets as Offsets,
    )
    from ._capped_counts import (
        capped_offsets as capped_offsets,
    )
    from ._capped_counts import (
        keys_of_heights as keys_of_heights,
    )
    from ._capped_counts import (
        number_of_heights as number_of_heights,
    )
    from ._capped_counts import (
        number_of_offsets as number_of_offsets,
    )
    from ._capped_counts import (
        offsets_of as offsets_of,
    )
    from ._capped_counts import (
        steps_are_few as steps_are_few,
    )
    from ._colouring import Assignment as Assignment
    from ._colouring import ColouredGraph, RankedGraph, colour, colours_by_key, rank
    from ._depth_by_joins import depth_as_joins
    from ._explicit import Graph, listed
    from ._explicit import (
        breadth_first as breadth_first,
    )
    from ._explicit import (
        compress as compress,
    )
    from ._explicit import (
        connected_components as connected_components,
    )
    from ._families import Complete, Cycle, Family, Hamming, Path, Product
    from ._histograms import Histograms, SortedHistograms
    from ._loading import (
        graph_from_arrays,
        graph_from_document,
        graph_from_edges,
        graph_from_frame,
        graph_from_networkx,
        graph_from_sparse,
    )
    from ._morphisms import Morphism, MorphismCheck, boundary_graph, check_morphism, line, morphism, preserves_colours
    from ._protocol import UNREACHABLE, DatasetGraph, Node, key_of_node, node_from_key
    from ._protocol import (
        Indices as Indices,
    )
    from ._protocol import (
        Mask as Mask,
    )
    from ._protocol import (
        NodeNames as NodeNames,
    )
    from ._protocol import (
        NumberedNodes as NumberedNodes,
    )
    from ._protocol import (
        as_node as as_node,
    )
    from ._protocol import (
        json_node as json_node,
    )
    from ._protocol import (
        named_nodes as named_nodes,
    )
    from ._protocol import (
        node_among as node_among,
    )
    from ._symmetry import LARGEST_SYMMETRIC as LARGEST_SYMMETRIC
    from ._symmetry import Symmetry as Symmetry
    from ._symmetry import regular_layers
    from ._symmetry import symmetry as symmetry

__all__ = [
    "UNREACHABLE",
    "ColouredGraph",
    "Complete",
    "Cycle",
    "DatasetGraph",
    "Family",
    "Gaps",
    "Graph",
    "Hamming",
    "Histograms",
    "Morphism",
    "MorphismCheck",
    "Node",
    "Path",
    "Product",
    "RankedGraph",
    "SortedHistograms",
    "boundary",
    "boundary_graph",
    "capped_heights",
    "check_morphism",
    "colour",
    "colours_by_key",
    "components",
    "components_without_boundary",
    "depth",
    "depth_as_joins",
    "graph_from_arrays",
    "graph_from_document",
    "graph_from_edges",
    "graph_from_frame",
    "graph_from_networkx",
    "graph_from_sparse",
    "interior",
    "key_of_node",
    "line",
    "listed",
    "morphism",
    "node_from_key",
    "order_graph",
    "preserves_colours",
    "rank",
    "regular_layers",
    "touching",
]

exports(__name__)
