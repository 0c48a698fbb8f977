package counters

import (
	"bytes"
	"strconv"
)

// MediaType is the number of a media type that has a counter of its own. The numbers are in the manifest: a new type
// gets the next number, and none is given again.
type MediaType uint8

// Media types without a counter of their own.
const (
	UnknownType MediaType = 0 // the answer names none, or no record had it when a killed crawl was resumed
	OtherType   MediaType = 1
)

// mediaTypesMost bounds the media types, and depthsMost the depths that have a counter of their own. The last one
// counts all that are deeper.
const (
	mediaTypesMost = 64
	depthsMost     = 17
)

// SkipRulesMost is the number of rules of package skipped, which checks it.
const SkipRulesMost = 6

// mediaTypes are the names of media types by number, in lower case.
var mediaTypes = [...]string{ //nolint:gochecknoglobals // a table
	"unknown", "other",
	"text/html", "application/xhtml+xml", "text/plain", "text/css", "text/javascript", "application/javascript",
	"application/x-javascript", "application/json", "application/ld+json", "application/xml", "text/xml",
	"application/rss+xml", "application/atom+xml", "text/csv", "text/markdown", "text/calendar",
	"image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/x-icon",
	"image/vnd.microsoft.icon", "image/bmp", "image/tiff",
	"audio/mpeg", "audio/ogg", "audio/mp4", "audio/wav", "video/mp4", "video/webm", "video/quicktime", "video/mpeg",
	"font/woff", "font/woff2", "font/ttf", "font/otf", "application/font-woff", "application/vnd.ms-fontobject",
	"application/pdf", "application/postscript", "application/rtf", "application/epub+zip", "application/msword",
	"application/vnd.ms-excel", "application/vnd.ms-powerpoint",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"application/vnd.oasis.opendocument.text", "application/zip", "application/gzip", "application/x-gzip",
	"application/x-tar", "application/octet-stream", "application/manifest+json", "application/wasm",
}

// mediaTypeLongest is the length of the longest name of mediaTypes.
const mediaTypeLongest = 73

var typeNumbers = numberTypes() //nolint:gochecknoglobals // made of a table

func numberTypes() map[string]MediaType {
	numbers := make(map[string]MediaType, len(mediaTypes))
	for i, name := range mediaTypes {
		numbers[name] = MediaType(i)
	}
	return numbers
}

// String returns the name.
func (t MediaType) String() string {
	if int(t) < len(mediaTypes) {
		return mediaTypes[t]
	}
	return mediaTypes[OtherType]
}

// MediaTypeOf returns the type that a Content-Type names, which it borrows. It does not allocate.
func MediaTypeOf(contentType []byte) MediaType {
	name, _, _ := bytes.Cut(contentType, []byte{';'})
	name = bytes.TrimSpace(name)
	if len(name) == 0 {
		return UnknownType
	}
	if len(name) > mediaTypeLongest {
		return OtherType
	}
	if t, ok := typeNumbers[string(name)]; ok {
		return t
	}
	var lower [mediaTypeLongest]byte
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	if t, ok := typeNumbers[string(lower[:len(name)])]; ok {
		return t
	}
	return OtherType
}

// CountAnswer counts the last answer to a URL by its media type, and by its depth if it is a page.
func (c *Live) CountAnswer(t MediaType, isPage bool, depth int) {
	c.Types[t].Add(1)
	if isPage {
		c.CountDepth(depth)
	}
}

// CountDepth counts a page by its links from a seed.
func (c *Live) CountDepth(depth int) { c.Depths[min(max(depth, 0), depthsMost-1)].Add(1) }

// MediaTypes are the answers by media type, without those that are 0.
func (t *Totals) MediaTypes() map[string]int64 {
	byName := make(map[string]int64)
	for i, n := range t.Types {
		if n > 0 {
			byName[MediaType(i).String()] += n
		}
	}
	return byName
}

// PageDepths are the pages by links from a seed, without those that are 0. The name of the last one is "16+".
func (t *Totals) PageDepths() map[string]int64 {
	byName := make(map[string]int64)
	for depth, n := range t.Depths {
		switch {
		case n == 0:
		case depth == depthsMost-1:
			byName[strconv.Itoa(depth)+"+"] = n
		default:
			byName[strconv.Itoa(depth)] = n
		}
	}
	return byName
}
