package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// htmlText returns the text of a page of HTML, which has to be well-formed, and needs nothing besides.
func htmlText(t *testing.T, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	ids, links := map[string]bool{}, []string{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		switch x := token.(type) {
		case xml.CharData:
			b.Write(x)
		case xml.StartElement:
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "src", "srcset", "action", "onclick":
					t.Errorf("it has %s=%q", a.Name.Local, a.Value)
				case "id":
					ids["#"+a.Value] = true
				case "href":
					links = append(links, a.Value)
				}
			}
			if slices.Contains([]string{"script", "link", "img", "iframe"}, x.Name.Local) {
				t.Errorf("it has <%s>", x.Name.Local)
			}
		}
	}
	for _, link := range links {
		if !ids[link] {
			t.Errorf("it refers to %s", link)
		}
	}
	return b.String()
}

// TestConformHTML: the page has what the table has.
func TestConformHTML(t *testing.T) {
	for spoil, wants := range map[string][]string{
		"right": {"a shell conforms", "Broadcastconforms", "Nothing has failed.", "int8", "Broadcast in place"},
		"spoil": {"a shell does not conform: new failures: 1", "BroadcastFAILS", "element 0 is -1 (ff), want",
			"Broadcast of int8, blocks of 5 elements", "collgen conform -ranks 1 -case '{", ", fails"},
	} {
		path := filepath.Join(t.TempDir(), "report.html")
		status, out, errs := conform(t, spoil, "-html", path)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("status %d, %v\n%s\n%s", status, err, out, errs)
		}
		text := htmlText(t, string(page))
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: there is no %q in\n%s", spoil, want, text)
			}
		}
	}
}
