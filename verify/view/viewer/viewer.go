// Package viewer makes the HTML page that shows the data of package view. A page is one file, and needs no network.
package viewer

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/view"
)

//go:embed web
var web embed.FS

// The files of the page, in the order in which they are put together.
var (
	styles  = []string{"view.css", "pictures.css"}
	scripts = []string{"elements.js", "model.js", "cell.js", "player.js", "places.js", "ranks.js", "matrix.js", "time.js",
		"tree.js", "words.js", "failure.js", "cost.js", "door.js", "main.js"}
)

// Checker is the verifier for browsers.
type Checker struct {
	Wasm []byte // verify/view/checker, compiled for js and wasm
	Exec []byte // wasm_exec.js of the Go that compiled it
}

// Write writes the page that shows d, with a checker that proves plans in the browser; nil: without.
func Write(w io.Writer, d *view.Data, c *Checker) error {
	if c == nil && d.Plan != "" {
		shown := *d
		shown.Plan = "" // there is nothing that could prove it
		d = &shown
	}
	data, err := dataElement(d)
	if err != nil {
		return err
	}
	extra, rights, err := c.elements()
	if err != nil {
		return err
	}
	style, script := joined(styles), "\"use strict\";\n(() => {\n"+joined(scripts)+"})();\n"
	page := strings.NewReplacer(
		"%POLICY%", policy(style, script)+rights,
		"%TITLE%", html.EscapeString(d.Name+", "+d.Call),
		"%STYLE%", style, "%DATA%", data, "%EXTRA%", extra, "%SCRIPT%", script)
	_, err = page.WriteString(w, joined([]string{"page.html"}))
	return err
}

// elements returns the parts of a page that has c, and the rights that they need beyond a page without.
func (c *Checker) elements() (parts, rights string, err error) {
	if c == nil {
		return "", "", nil
	}
	packed, err := pack(c.Wasm)
	if err != nil {
		return "", "", err
	}
	worker := append(slices.Clone(c.Exec), joined([]string{"worker.js"})...)
	return element("checker", packed) + element("worker", worker), " 'wasm-unsafe-eval'; worker-src blob:", nil
}

// longest is how many bytes of data a page has as plain text; more are packed.
const longest = 100_000

// dataElement returns the element that has the data of the page.
func dataElement(d *view.Data) (string, error) {
	data, err := json.Marshal(d) // which writes <, > and & as escapes, so that it cannot end its element
	if err != nil {
		return "", err
	}
	if len(data) <= longest {
		return fmt.Sprintf("<script type=\"application/json\" id=\"data\">%s</script>\n", data), nil
	}
	if data, err = json.Marshal(differences(d)); err != nil {
		return "", err
	}
	packed, err := pack(data)
	return element("packed", packed), err
}

// differences returns d with long lists as differences, which are small numbers that repeat: each number less the one
// at its place in the record before.
func differences(d *view.Data) *view.Data {
	of := func(list []int, record int) []int {
		less := slices.Clone(list)
		for i := record; i < len(list); i++ {
			less[i] -= list[i-record]
		}
		return less
	}
	x := *d
	x.Messages, x.Writes, x.Inner, x.SetOf = of(d.Messages, 12), of(d.Writes, 3), of(d.Inner, 2), of(d.SetOf, 1)
	x.Held = slices.Clone(d.Held)
	for rank, list := range d.Held {
		x.Held[rank] = of(list, 2)
	}
	return &x
}

// element returns an element of bytes, in base64, which scripts of the page unpack.
func element(id string, content []byte) string {
	return fmt.Sprintf("<script type=\"text/plain\" id=%q>%s</script>\n", id, base64.StdEncoding.EncodeToString(content))
}

// pack returns bytes in the format of gzip.
func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(content)
	}
	if err == nil {
		err = z.Close()
	}
	return packed.Bytes(), err
}

func joined(names []string) string {
	var b strings.Builder
	for _, name := range names {
		text, err := web.ReadFile("web/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		b.Write(text)
	}
	return b.String()
}

// policy returns a Content-Security-Policy under which nothing is loaded, and nothing runs but these.
func policy(style string, scripts ...string) string {
	p := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style) + "; script-src"
	for _, s := range scripts {
		p += " " + hash(s)
	}
	return p
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
}
