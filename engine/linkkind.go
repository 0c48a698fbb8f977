package engine

import "orbweaver/engine/parse"

// linkKind is what sort of link led to a URL: a parse.Kind, or one of those below.
type linkKind uint8

const linkRedirect = linkKind(parse.KindCount) // the Location of a redirect

// hop gives the letter of a link of this kind, and where it stood, both as Heritrix has them: L for what a reader follows, E for what
// belongs to the page, R for what moves on by itself.
func (k linkKind) hop() (letter byte, context string) {
	switch parse.Kind(k) {
	case parse.Anchor:
		return 'L', "a/@href"
	case parse.Area:
		return 'L', "area/@href"
	case parse.Form:
		return 'L', "form/@action"
	case parse.LinkRel:
		return 'E', "link/@href"
	case parse.Image:
		return 'E', "img/@src"
	case parse.Script:
		return 'E', "script/@src"
	case parse.Frame:
		return 'E', "frame/@src"
	case parse.IFrame:
		return 'E', "iframe/@src"
	case parse.Embed:
		return 'E', "embed/@src"
	case parse.Object:
		return 'E', "object/@data"
	case parse.Background:
		return 'E', "body/@background"
	case parse.Use:
		return 'E', "use/@href"
	case parse.MetaRefresh:
		return 'R', "meta"
	case parse.Kind(linkRedirect):
		return 'R', "Location:"
	default:
		return 'E', "=EMBED_MISC"
	}
}

// appendHop adds a hop's letter to a way. Of very long ones the oldest letters fall away.
func appendHop(way []byte, k linkKind) []byte {
	letter, _ := k.hop()
	if len(way) >= wayMax {
		way = append(way[:0], way[len(way)-wayMax+1:]...)
	}
	return append(way, letter)
}
