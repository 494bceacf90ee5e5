"""Dataset graphs: explicit and in families, colourings and rankings, boundary and depth, morphisms."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._boundary import (
        boundary,
        boundary_nodes,
        components,
        components_without_boundary,
        depth,
        interior,
        touching,
        touching_codes,
    )
    from ._capped_counts import (
        MOST_PARTS,
        Gaps,
        Moves,
        Offsets,
        capped_heights,
        capped_offsets,
        keys_of_heights,
        number_of_heights,
        number_of_offsets,
        offsets_of,
        order_graph,
        steps_are_few,
    )
    from ._colouring import Assignment, ColouredGraph, RankedGraph, colour, colours_by_key, rank
    from ._depth_by_joins import depth_as_joins
    from ._explicit import Graph, breadth_first, compress, connected_components, listed, same_graph
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
    from ._neighbouring import NeighbouringRelation, Relation, parse_relation
    from ._protocol import (
        UNREACHABLE,
        DatasetGraph,
        Indices,
        Mask,
        Node,
        NodeNames,
        NumberedNodes,
        as_node,
        json_node,
        key_of_node,
        named_nodes,
        node_among,
        node_from_key,
    )
    from ._symmetry import LARGEST_SYMMETRIC, Symmetry, regular_layers, symmetry

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
    "NeighbouringRelation",
    "Node",
    "Path",
    "Product",
    "RankedGraph",
    "SortedHistograms",
    "boundary",
    "boundary_graph",
    "boundary_nodes",
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
