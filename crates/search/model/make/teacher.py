"""all-MiniLM-L6-v2 on onnxruntime: the graph is written here, the weights are those of the safetensors file.

Architecture: BERT (https://arxiv.org/abs/1810.04805), 6 layers, 12 heads, 384 dimensions; the sentence vector is the
mean of the token vectors, of length 1 (https://www.sbert.net). The fused operators are those that onnxruntime documents
under `com.microsoft` (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md). The matrices are
quantised to int8 per channel when the session runs.
"""

import json
import struct

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from pieces import WordPiece

LAYERS, HEADS, EPSILON = 6, 12, 1e-12


def safetensors(path):
    """The float tensors of a safetensors file, https://github.com/huggingface/safetensors#format"""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, tensor in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            values = np.frombuffer(data[8 + length + start : 8 + length + end], np.float32)
            tensors[name] = values.reshape(tensor["shape"])
    return tensors


def graph(tensors):
    """BERT from token ids (batch, length) and the length of each text to token vectors (batch, length, 384)."""
    nodes, weights = [], []

    def weight(name, value):
        weights.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(kind, inputs, output, domain="com.microsoft", **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def linear(x, name, bias=True):
        product = node("MatMul", [x, weight(name + ".w", tensors[name + ".weight"].T)], name + ".product", "")
        return (
            node("Add", [product, weight(name + ".b", tensors[name + ".bias"])], name + ".out", "") if bias else product
        )

    def norm(x, skip, dense, name):
        scale, shift = (weight(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        inputs = [x, skip, scale, shift, weight(dense + ".b", tensors[dense + ".bias"])]
        return node("SkipLayerNormalization", inputs, name + ".out", epsilon=EPSILON)

    e = "embeddings."
    names = [e + f"{part}_embeddings.weight" for part in ("word", "position", "token_type")] + [
        e + "LayerNorm.weight",
        e + "LayerNorm.bias",
    ]
    inputs = ["ids", "types", *(weight(name, tensors[name]) for name in names), "mask"]
    nodes.append(
        helper.make_node("EmbedLayerNormalization", inputs, ["x0", "lengths"], domain="com.microsoft", epsilon=EPSILON)
    )
    x = "x0"
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        parts = [p + f"attention.self.{part}" for part in ("query", "key", "value")]
        qkv = weight(p + "qkv.w", np.concatenate([tensors[part + ".weight"].T for part in parts], 1))
        bias = weight(p + "qkv.b", np.concatenate([tensors[part + ".bias"] for part in parts]))
        attended = node("Attention", [x, qkv, bias, "lengths"], p + "attended", num_heads=HEADS)
        dense = p + "attention.output.dense"
        x = norm(linear(attended, dense, bias=False), x, dense, p + "attention.output.LayerNorm")
        inner = node("Gelu", [linear(x, p + "intermediate.dense")], p + "gelu")
        x = norm(linear(inner, p + "output.dense", bias=False), x, p + "output.dense", p + "output.LayerNorm")
    nodes.append(helper.make_node("Identity", [x], ["tokens"]))
    value = helper.make_tensor_value_info
    inputs = [value(name, TensorProto.INT32, ["batch", "length"]) for name in ("ids", "types", "mask")]
    outputs = [value("tokens", TensorProto.FLOAT, ["batch", "length", 384])]
    made = helper.make_graph(nodes, "bert", inputs, outputs, weights)
    return helper.make_model(
        made, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8
    )


class Teacher:
    """Sentence vectors."""

    def __init__(self, folder, work, threads):
        vocabulary = {piece: row for row, piece in enumerate((folder / "vocab.txt").read_text().split("\n")[:-1])}
        self.pieces = WordPiece(vocabulary)
        self.begin, self.end = vocabulary["[CLS]"], vocabulary["[SEP]"]
        whole, small = work / "teacher.onnx", work / "teacher-int8.onnx"
        onnx.save(graph(safetensors(folder / "model.safetensors")), whole)
        kinds = {"DefaultTensorType": TensorProto.FLOAT}
        quantize_dynamic(whole, small, ["MatMul"], per_channel=True, weight_type=QuantType.QInt8, extra_options=kinds)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 3
        self.session = onnxruntime.InferenceSession(small, options, providers=["CPUExecutionProvider"])
        self.exact = onnxruntime.InferenceSession(whole, options, providers=["CPUExecutionProvider"])

    def encode(self, texts, longest=64, exact=False):
        """Vectors of length 1; texts are cut after `longest` pieces. Alike lengths share a batch."""
        return self.encode_rows([self.pieces(text)[:longest] for text in texts], exact)

    def encode_rows(self, rows, exact=False):
        session = self.exact if exact else self.session
        rows = [[self.begin, *row, self.end] for row in rows]
        order = sorted(range(len(rows)), key=lambda at: (len(rows[at]), at))
        vectors = np.zeros((len(rows), 384), np.float32)
        for start in range(0, len(order), 64):
            batch = order[start : start + 64]
            ids = np.zeros((len(batch), len(rows[batch[-1]])), np.int32)
            for line, at in zip(ids, batch):
                line[: len(rows[at])] = rows[at]
            mask = (ids != 0).astype(np.int32)
            (tokens,) = session.run(["tokens"], {"ids": ids, "types": np.zeros_like(ids), "mask": mask})
            mean = (tokens * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
            vectors[batch] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return vectors
