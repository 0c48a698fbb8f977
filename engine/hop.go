package engine

import "orbweaver/engine/parse"

// hopContext is where a link stood, as Heritrix has it.
func hopContext(k parse.Kind) string {
	switch k {
	case parse.Anchor:
		return "a/@href"
	case parse.Area:
		return "area/@href"
	case parse.Form:
		return "form/@action"
	case parse.LinkRel, parse.Resource:
		return "link/@href"
	case parse.Image:
		return "img/@src"
	case parse.Script:
		return "script/@src"
	case parse.Frame:
		return "frame/@src"
	case parse.IFrame:
		return "iframe/@src"
	case parse.Embed:
		return "embed/@src"
	case parse.Object:
		return "object/@data"
	case parse.Background:
		return "body/@background"
	case parse.Use:
		return "use/@href"
	case parse.MetaRefresh:
		return "meta"
	case parse.Redirect:
		return "Location:"
	case parse.Sitemap, parse.SitemapFile:
		return "=MANIFEST_MISC"
	case parse.Feed:
		return "=NAVLINK_MISC"
	default:
		return "=EMBED_MISC"
	}
}

// appendHop adds a hop's letter to a way. Of very long ones the oldest letters fall away.
func appendHop(way []byte, k parse.Kind) []byte {
	if len(way) >= wayMax {
		way = append(way[:0], way[len(way)-wayMax+1:]...)
	}
	return append(way, k.Letter())
}
