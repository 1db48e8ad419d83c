"""Arrays and data as parts of a page."""

from __future__ import annotations

import base64
import json
import zlib

import numpy as np
import pytest

from skillfocus.viewer.recordings import pack_array, script_element


@pytest.mark.parametrize(
    ("dtype", "name"), [("uint8", "u8"), ("uint16", "u16"), ("int32", "i32"), ("float32", "f32")]
)
def test_arrays_are_little_endian_bytes_of_a_named_type(dtype, name):
    array = np.array([[1, 2], [3, 250]], dtype)
    packed = pack_array(array.astype(array.dtype.newbyteorder(">")))
    data = zlib.decompress(base64.b64decode(packed["data"]))
    assert packed["type"] == name
    assert data == array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_types_that_a_page_does_not_know_are_refused():
    with pytest.raises(KeyError, match="float64"):
        pack_array(np.zeros(2))


def test_nothing_in_the_data_ends_its_element():
    text = "</script><!--"
    element = script_element("data", {"a": [text, float("nan")], "b": (float("inf"), 1.5)})
    assert element.startswith('<script type="application/json" id="data">')
    assert element.count("</script>") == 1
    assert "<!--" not in element
    body = element[element.index(">") + 1 : element.rindex("</")]
    assert json.loads(body) == {"a": [text, None], "b": [None, 1.5]}
