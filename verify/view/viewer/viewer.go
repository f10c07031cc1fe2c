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
	data, err := json.Marshal(d) // which writes <, > and & as escapes, so that it cannot end its element
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
		"%STYLE%", style, "%DATA%", string(data), "%EXTRA%", extra, "%SCRIPT%", script)
	_, err = page.WriteString(w, joined([]string{"page.html"}))
	return err
}

// elements returns the parts of a page that has c, and the rights that they need beyond a page without.
func (c *Checker) elements() (parts, rights string, err error) {
	if c == nil {
		return "", "", nil
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is right
	if _, err := z.Write(c.Wasm); err != nil {
		return "", "", err
	}
	if err := z.Close(); err != nil {
		return "", "", err
	}
	worker := append(slices.Clone(c.Exec), joined([]string{"worker.js"})...)
	element := func(id string, content []byte) string {
		return fmt.Sprintf("<script type=\"text/plain\" id=%q>%s</script>\n", id,
			base64.StdEncoding.EncodeToString(content))
	}
	return element("checker", packed.Bytes()) + element("worker", worker), " 'wasm-unsafe-eval'; worker-src blob:", nil
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
