"""Dataset graphs: explicit and in families, colourings and rankings, boundary and depth, morphisms."""

from ..facades import when_used

with when_used(__name__):
    from .boundary import boundary, components, components_without_boundary, depth, interior, touching
    from .boundary_graph import boundary_graph, line
    from .colouring import ColouredGraph, RankedGraph, colour, colours_by_key, rank
    from .documents import graph_from_document
    from .explicit import Graph, listed
    from .families import Complete, Cycle, Family, Path
    from .gaps import Gaps
    from .histograms import Histograms, SortedHistograms
    from .joins import depth_as_joins
    from .loading import (
        graph_from_arrays,
        graph_from_edges,
        graph_from_frame,
        graph_from_networkx,
        graph_from_sparse,
    )
    from .morphisms import Morphism, MorphismCheck, check_morphism, morphism, preserves_colours
    from .names import Node, key_of_node
    from .orders import capped_heights, order_graph
    from .products import Hamming, Product
    from .protocol import UNREACHABLE, DatasetGraph, node_from_key
    from .symmetry import regular_layers

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
