package parse

// EachFieldLink reports the links in the value of a response field Link (RFC 8288), in order, as a link element would
// have them. A link with an anchor belongs to another resource, and is left out. What is no link is skipped. It borrows
// value; the Link that report gets is valid during the call.
func EachFieldLink(value []byte, report func(l *Link)) {
	eachLinkField(value, func(l *linkField) {
		kind, ok := kindOfRel(l.Rel)
		if !ok || l.IsAnchored {
			return
		}
		isNoFollow := hasToken(l.Rel, "nofollow")
		if target := trimControl(l.Target); len(target) > 0 {
			report(&Link{Kind: kind, NoFollow: isNoFollow, Ref: target})
		}
		eachCandidate(l.ImageSrcset, func(ref []byte) {
			report(&Link{Kind: Image, NoFollow: isNoFollow, Ref: ref})
		})
	})
}
