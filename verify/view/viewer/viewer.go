// Package viewer makes the HTML page that shows the data of package view. A page is one file, and needs no network.
package viewer

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
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

// Write writes the page that shows d.
func Write(w io.Writer, d *view.Data) error {
	data, err := json.Marshal(d) // which writes <, > and & as escapes, so that it cannot end its element
	if err != nil {
		return err
	}
	style, script := joined(styles), "\"use strict\";\n(() => {\n"+joined(scripts)+"})();\n"
	page := strings.NewReplacer(
		"%POLICY%", policy(style, script),
		"%TITLE%", html.EscapeString(d.Name+", "+d.Call),
		"%STYLE%", style, "%DATA%", string(data), "%EXTRA%", "", "%SCRIPT%", script)
	_, err = page.WriteString(w, joined([]string{"page.html"}))
	return err
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
