package jsonlinks

import (
	"bytes"
	"encoding/json"
)

// Format is what a JSON file is.
type Format uint8

// The formats.
const (
	None Format = iota
	Manifest
	Feed
)

// Kind is the kind of a Link.
type Kind uint8

// The kinds.
const (
	Page   Kind = iota // an entry of a feed, a page of an application
	Image              // an icon or picture
	Media              // an attachment
	Markup             // no URL but HTML
)

// manifestMost is the longest manifest that is read, in bytes.
const manifestMost = 64 << 10

// feedMost is how many bytes of a feed are read.
const feedMost = 4 << 20

// startMost is how many bytes of a feed tell that it is one.
const startMost = 1 << 10

// FormatOf reports what a file is that has the type of JSON. isManifest says that its type is that of a manifest.
func FormatOf(b []byte, isManifest bool) Format {
	b = bytes.TrimLeft(b, " \t\r\n")
	switch {
	case len(b) == 0 || b[0] != '{':
		return None
	case bytes.Contains(b[:min(len(b), startMost)], []byte("jsonfeed.org")):
		return Feed
	case len(b) > manifestMost:
		return None
	case isManifest:
		return Manifest
	}
	has := func(member string) bool { return bytes.Contains(b, []byte(member)) }
	if has(`"icons"`) && has(`"src"`) && (has(`"start_url"`) || has(`"display"`) || has(`"theme_color"`)) {
		return Manifest
	}
	return None
}

// Read calls found for the links of a file, which it borrows. What it gives belongs to found.
func Read(b []byte, format Format, found func(kind Kind, text []byte)) {
	take := func(kind Kind, text string) {
		if text != "" {
			found(kind, []byte(text))
		}
	}
	switch format {
	case Manifest:
		readManifest(b, take)
	case Feed:
		readFeed(b[:min(len(b), feedMost)], take)
	}
}

type picture struct {
	Src string `json:"src"`
}

// readManifest reads a manifest. A member of the wrong type is left out.
func readManifest(b []byte, take func(Kind, string)) {
	var m struct {
		StartURL    string    `json:"start_url"`
		Icons       []picture `json:"icons"`
		Screenshots []picture `json:"screenshots"`
		Shortcuts   []struct {
			URL   string    `json:"url"`
			Icons []picture `json:"icons"`
		} `json:"shortcuts"`
	}
	_ = json.Unmarshal(b, &m) // after a fault, what was read before it counts
	take(Page, m.StartURL)
	pictures := func(all []picture) {
		for _, p := range all {
			take(Image, p.Src)
		}
	}
	pictures(m.Icons)
	pictures(m.Screenshots)
	for _, s := range m.Shortcuts {
		take(Page, s.URL)
		pictures(s.Icons)
	}
}

// item is an entry of a feed.
type item struct {
	URL         string `json:"url"`
	ExternalURL string `json:"external_url"`
	HTML        string `json:"content_html"`
	Image       string `json:"image"`
	Banner      string `json:"banner_image"`
	Attachments []struct {
		URL string `json:"url"`
	} `json:"attachments"`
}

// readFeed reads a feed, one item at a time.
func readFeed(b []byte, take func(Kind, string)) {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return
		}
		switch name {
		case "items":
			if !readItems(d, take) {
				return
			}
			continue
		case "home_page_url", "next_url", "feed_url", "icon", "favicon":
			var url string
			if err = d.Decode(&url); err == nil && (name == "icon" || name == "favicon") {
				take(Image, url)
			} else if err == nil {
				take(Page, url)
			}
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if isBroken(err) {
			return
		}
	}
}

// readItems reads the items of a feed. ok is false if reading must end.
func readItems(d *json.Decoder, take func(Kind, string)) (ok bool) {
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return false
	}
	for d.More() {
		var one item
		if err := d.Decode(&one); isBroken(err) {
			return false
		}
		take(Page, one.URL)
		take(Page, one.ExternalURL)
		take(Markup, one.HTML)
		take(Image, one.Image)
		take(Image, one.Banner)
		for _, a := range one.Attachments {
			take(Media, a.URL)
		}
	}
	_, err := d.Token()
	return err == nil
}

// isBroken reports whether reading must end after an error: the next value is not known to begin.
func isBroken(err error) bool {
	if err == nil {
		return false
	}
	_, isType := err.(*json.UnmarshalTypeError) //nolint:errorlint // the decoder returns it bare
	return !isType
}
