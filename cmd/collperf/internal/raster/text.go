package raster

import (
	"image"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/collgen/collgen/internal/drawing"
)

// kind is what texts of one font have in common.
type kind struct {
	bold bool
	size float64
}

// texts draws text in the fonts of the Go project, which are part of the program.
func texts(img *image.RGBA, all []drawing.Text) error {
	faces := make(map[kind]font.Face)
	for _, t := range all {
		k := kind{t.Bold, t.Size}
		if faces[k] == nil {
			face, err := newFace(k)
			if err != nil {
				return err
			}
			defer face.Close()
			faces[k] = face
		}
		d := &font.Drawer{Dst: img, Src: image.NewUniform(t.Color), Face: faces[k]}
		x := fixed.Int26_6(t.X * scale * 64)
		switch width := d.MeasureString(t.Text); t.Anchor {
		case drawing.Middle:
			x -= width / 2
		case drawing.End:
			x -= width
		}
		d.Dot = fixed.Point26_6{X: x, Y: fixed.Int26_6(t.Y * scale * 64)}
		d.DrawString(t.Text)
	}
	return nil
}

func newFace(k kind) (font.Face, error) {
	file := goregular.TTF
	if k.bold {
		file = gobold.TTF
	}
	f, err := opentype.Parse(file)
	if err != nil {
		return nil, err
	}
	// With 72 dots per inch, a point is a dot.
	return opentype.NewFace(f, &opentype.FaceOptions{Size: k.size * scale, DPI: 72, Hinting: font.HintingFull})
}
