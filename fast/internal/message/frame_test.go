package message

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/collgen/collgen/spec"
)

// frames are some of each kind that ranks send.
func frames() []frame {
	return []frame{
		{kind: eager, typ: spec.TypeFloat32, tag: 7, data: make([]byte, 8)},
		{kind: eager, typ: spec.TypeUint8, tag: MaxTag, data: make([]byte, EagerLimit)},
		{kind: announce, typ: spec.TypeComplex128, tag: 1, id: 3, n: 1 << 20},
		{kind: announce, typ: spec.TypeInt64, id: 1},
		placed(EagerLimit+1, place{1 << 40, 1 << 41, 7}.encode()),
		{kind: data, id: 3, data: make([]byte, maxChunk)},
		{kind: abandon, id: 3, fate: deadline},
		{kind: abandon, id: 3, fate: canceled},
		{kind: credit, n: EagerCredit},
		{kind: accept, id: 3},
		{kind: refuse, id: 3, fate: consumed},
		{kind: ack, n: Window},
		{kind: ack, id: 3},
		{kind: seen, n: MaxUnseen},
	}
}

// placed is an announcement of so many bytes, and what says where they lie.
func placed(bytes uint64, at []byte) frame {
	return frame{kind: announce, typ: spec.TypeUint8, id: 1, n: bytes, data: at}
}

// TestFrames: each is what was encoded.
func TestFrames(t *testing.T) {
	for _, f := range frames() {
		got, ok := decode(f.appendTo(nil))
		if f.data == nil {
			f.data = []byte{}
		}
		if !ok || !reflect.DeepEqual(got, f) {
			t.Errorf("%+v was decoded as %+v, %v", f, got, ok)
		}
	}
}

// TestFramesRefused: what no rank sends is refused.
func TestFramesRefused(t *testing.T) {
	for what, f := range map[string]frame{
		"no kind":                         {},
		"an unknown kind":                 {kind: seen + 1, id: 1},
		"a message of no type":            {kind: eager, data: make([]byte, 4)},
		"a message of an unknown type":    {kind: eager, typ: 200, data: make([]byte, 4)},
		"a message of half an element":    {kind: eager, typ: spec.TypeInt32, data: make([]byte, 6)},
		"a negative tag":                  {kind: eager, typ: spec.TypeInt32, tag: 1 << 31, data: make([]byte, 4)},
		"a long eager message":            {kind: eager, typ: spec.TypeUint8, data: make([]byte, EagerLimit+1)},
		"an eager message with an id":     {kind: eager, typ: spec.TypeUint8, id: 1},
		"an announcement without id":      {kind: announce, typ: spec.TypeUint8, n: 1},
		"an announcement with bytes":      {kind: announce, typ: spec.TypeUint8, id: 1, n: 1, data: []byte{1}},
		"the place of a short message":    placed(EagerLimit, place{1 << 40, 1 << 41, 7}.encode()),
		"a part of a place":               placed(EagerLimit+1, place{1 << 40, 1 << 41, 7}.encode()[1:]),
		"a place without a seal":          placed(EagerLimit+1, place{1 << 40, 0, 7}.encode()),
		"a place with a broken seal":      placed(EagerLimit+1, place{1 << 40, 1 << 41, 0}.encode()),
		"an announcement of half of one":  {kind: announce, typ: spec.TypeInt64, id: 1, n: 12},
		"an announcement of too much":     {kind: announce, typ: spec.TypeUint8, id: 1, n: maxInt + 1},
		"no data":                         {kind: data, id: 1},
		"data of no message":              {kind: data, data: []byte{1}},
		"data with a type":                {kind: data, id: 1, typ: spec.TypeUint8, data: []byte{1}},
		"a message abandoned as received": {kind: abandon, id: 1, fate: consumed},
		"no message abandoned":            {kind: abandon, fate: canceled},
		"no credit":                       {kind: credit},
		"too much credit":                 {kind: credit, n: EagerCredit + 1},
		"nothing accepted":                {kind: accept},
		"an accept with a tag":            {kind: accept, id: 1, tag: 1},
		"nothing refused":                 {kind: refuse, fate: consumed},
		"refused without a reason":        {kind: refuse, id: 1},
		"an unknown fate":                 {kind: refuse, id: 1, fate: canceled + 1},
		"nothing acknowledged":            {kind: ack},
		"too much acknowledged":           {kind: ack, n: Window + 1},
	} {
		if got, ok := decode(f.appendTo(nil)); ok {
			t.Errorf("%s is taken as %+v", what, got)
		}
	}
	good := frame{kind: accept, id: 1}
	b := good.appendTo(nil)
	for n := range b {
		if f, ok := decode(b[:n]); ok {
			t.Errorf("%d bytes of it are taken as %+v", n, f)
		}
	}
	b[3] = 1
	if f, ok := decode(b); ok {
		t.Errorf("it is taken as %+v", f)
	}
}

// FuzzFrame: what is decoded is encoded as it was, and within the limits.
func FuzzFrame(f *testing.F) {
	for _, x := range frames() {
		f.Add(x.appendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, ok := decode(b)
		if !ok {
			return
		}
		if !bytes.Equal(x.appendTo(nil), b) || x.tag > MaxTag || x.n > maxInt ||
			x.kind == eager && len(x.data) > EagerLimit {
			t.Errorf("%+v", x)
		}
	})
}
