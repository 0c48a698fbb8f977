package simweb

import "strconv"

// targetKind tells apart the things a URL of the world can name.
type targetKind uint8

const (
	kindPage     targetKind = iota // page of a host
	kindHop                        // a step of a redirect chain; n is the steps that are left
	kindLand                       // where a chain ends; only redirects lead there
	kindLoop                       // a step of a redirect loop
	kindNowhere                    // a page that was never there
	kindTrap                       // a thing that looks like a link and is none; n says which
	kindRobots                     // robots.txt
	kindRobotsOf                   // another host's robots.txt, redirected to this host; page is that host
	kindNoHost                     // a page of a host that has no address; page says which
	kindUnknown                    // no URL of the world; page is the number of its name in a log
	kindGuest                      // the same of a guest's
)

// target is what a URL of the world names. It is comparable and holds no pointer.
type target struct {
	host int32 // -1 for kindNoHost
	page uint32
	kind targetKind
	n    uint8
}

// content is the type of a page.
type content uint8

const (
	contentHTML content = iota
	contentPNG
	contentCSS
	contentPDF
)

// area says which rule of its host's robots.txt concerns a page.
type area uint8

const (
	areaNone   area = iota
	areaDeny        // Disallow: /private/
	areaOpen        // Allow: /private/open/, longer
	areaEnd         // Disallow: /*.secret$
	areaQuery       // .secret with a query behind it: not matched by $
	areaMiddle      // Disallow: /*/hidden/
	areaCount
)

func (a area) denied() bool { return a == areaDeny || a == areaEnd || a == areaMiddle }

// page is what is true of one page.
type page struct {
	shape   shape
	content content
	area    area
	style   uint8
	copy    uint8 // which of the payloads that several pages share, plus 1
	words   uint32
	size    int // bytes, about
}

// copies is the number of payloads that several pages share.
const copies = 64

// pageAt draws the facts of a page, 0 <= p < h.pages. Only leaves of the tree are odd in any way.
func (w *World) pageAt(h *host, p int) page {
	hash := w.hash(saltPage, h.index, p)
	f := page{words: uint32(hash >> 8), size: int(w.sizes[hash>>52])}
	r := rng(hash)
	f.style = uint8(r.below(pathStyles))
	if !w.leafPage(h, p) {
		return f
	}
	f.shape = shape(draw(w.shapes, r.next()))
	if h.robots.rules() {
		f.area = area(r.below(2 * int(areaCount)))
		if f.area >= areaCount {
			f.area = areaNone
		}
	}
	switch {
	case f.shape != shapePlain || f.area != areaNone:
	case r.float() < w.c.OtherShare:
		f.content = contentPNG + content(r.below(3))
	case r.float() < w.c.CopyShare:
		f.copy = uint8(1 + r.below(copies))
	}
	return f
}

// pathStyles is the number of ways pages are named.
const pathStyles = 8

// appendPath appends a page's path and query in normal form. The last run of digits is the page's number, and the words
// hold none, so that locate can read it back.
func appendPath(dst []byte, p int, f *page) []byte {
	if p == 0 {
		return append(dst, '/')
	}
	w1, w2 := word(f.words), word(f.words>>8)
	num := func(before, after string) []byte {
		dst = append(dst, before...)
		dst = strconv.AppendInt(dst, int64(p), 10)
		return append(dst, after...)
	}
	dst = append(dst, '/')
	switch f.content {
	case contentPNG:
		return num("img/", ".png")
	case contentCSS:
		return num("css/theme-", ".css")
	case contentPDF:
		return num("doc/report-", ".pdf")
	}
	switch f.area {
	case areaDeny:
		return num("private/", ".html")
	case areaOpen:
		return num("private/open/", "/")
	case areaEnd:
		dst = append(dst, w1...)
		return num("/", ".secret")
	case areaQuery:
		dst = append(dst, w1...)
		return num(".secret?v=", "")
	case areaMiddle:
		dst = append(dst, w1...)
		return num("/hidden/", ".html")
	}
	dst = append(dst, w1...)
	switch f.style {
	case 0:
		dst = append(append(dst, '/'), w2...)
		return num("/p", ".html")
	case 1:
		return num("/", "/")
	case 2:
		dst = append(append(dst, "/index.php?cat="...), w2...)
		return num("&id=", "")
	case 3:
		return num("-", "")
	case 4:
		dst = append(append(dst, "/%C3%A9t%C3%A9-"...), w2...)
		return num("/", ".html")
	case 5:
		dst = append(append(dst, "%20and%20"...), w2...)
		return num("/", ".html")
	case 6:
		dst = append(append(dst, "/?lang="...), w2...)
		return num("&copy=1&page=", "&")
	}
	dst = append(append(dst, '/'), w2...)
	dst = append(append(dst, '/'), w1...)
	return num("/", "/index.html")
}

// appendTarget appends the path and query of any target but kindUnknown and kindGuest, in normal form.
func (w *World) appendTarget(dst []byte, h *host, t target) []byte {
	numbers := func(before string, n int, after string) []byte {
		dst = append(dst, before...)
		if n >= 0 {
			dst = strconv.AppendInt(dst, int64(n), 10)
			dst = append(dst, '/')
		}
		dst = strconv.AppendInt(dst, int64(t.page), 10)
		return append(dst, after...)
	}
	switch t.kind {
	case kindPage:
		f := w.pageAt(h, int(t.page))
		return appendPath(dst, int(t.page), &f)
	case kindHop:
		return numbers("/~hop/", int(t.n), "")
	case kindLand:
		return numbers("/~land/", -1, ".html")
	case kindLoop:
		return numbers("/~loop/", int(t.n), "")
	case kindNowhere, kindNoHost:
		return numbers("/nowhere/", -1, ".html")
	case kindTrap:
		return numbers("/trap/", int(t.n), "")
	case kindRobots:
		return append(dst, "/robots.txt"...)
	case kindRobotsOf:
		return numbers("/~robots/", -1, ".txt")
	}
	panic("BUG: simweb: path of an unknown target")
}

// appendURL appends the normal form of a target's URL.
func (w *World) appendURL(dst []byte, t target) []byte {
	if t.kind == kindNoHost {
		dst = append(dst, "http://"...)
		dst = append(w.appendNoHost(dst, t), ""...)
		return w.appendTarget(dst, nil, t)
	}
	h := w.hostAt(int(t.host))
	return w.appendTarget(w.appendOrigin(dst, &h), &h, t)
}

// appendNoHost appends a name that has no address.
func (w *World) appendNoHost(dst []byte, t target) []byte {
	dst = append(dst, "gone-"...)
	dst = strconv.AppendInt(dst, int64(t.page), 10)
	dst = append(dst, '.')
	return append(dst, w.c.Domain...)
}
