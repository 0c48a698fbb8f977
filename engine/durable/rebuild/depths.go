package rebuild

import (
	"bytes"

	"orbweaver/warc"
)

// depths counts pages by links from a seed. The metadata record beside a page says it, if there is one.
type depths struct {
	page    warc.ID // the last page, if its depth is not known yet; else zero
	unknown int64   // pages whose depth is not known
}

// notePage notes a page that was counted without its depth.
func (d *depths) notePage(id warc.ID) {
	d.page = id
	d.unknown++
}

// take returns the depth of the last page, if a metadata record says it.
func (d *depths) take(rec *warc.RecordRead) (depth int, isKnown bool) {
	if beside, _ := warc.ParseID(rec.Get("WARC-Concurrent-To")); d.page.IsZero() || beside != d.page {
		return 0, false
	}
	d.page = warc.ID{}
	if depth, isKnown = depthIn(rec.Block); isKnown { // of a long record it has the start
		d.unknown--
	}
	return depth, isKnown
}

// depthIn returns the number of links from a seed that the fields of a metadata record say. Redirects, and what a page
// embeds, are no links.
func depthIn(block []byte) (depth int, isKnown bool) {
	for line := range bytes.Lines(block) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch string(bytes.TrimSpace(name)) {
		case "seed":
			return 0, true
		case "hopsFromSeed":
			for _, letter := range value {
				if bytes.IndexByte([]byte("LXSM"), letter) >= 0 {
					depth++
				}
			}
			return depth, true
		}
	}
	return 0, false
}
