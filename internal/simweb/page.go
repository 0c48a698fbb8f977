package simweb

import (
	"strconv"

	"orbweaver/internal/simweb/corpus"
	"orbweaver/internal/simweb/draw"
)

// TargetKind tells apart the things a URL of the world can name.
type TargetKind uint8

// The kinds.
const (
	KindPage     TargetKind = iota // page of a host
	KindHop                        // a step of a redirect chain; Step is the number of steps that are left
	KindLand                       // where a chain ends; only redirects lead there
	KindLoop                       // a step of a redirect loop
	KindNowhere                    // a page that was never there
	KindTrap                       // text that looks like a link and is none; Step says which
	KindRobots                     // robots.txt
	KindRobotsOf                   // another host's robots.txt, redirected to this host; Page is that host
	KindNoHost                     // a page of a host that has no address; Page says which
	KindUnknown                    // no URL of the world; Page is the number of its name in a log
	KindGuest                      // the same of a guest's
	KindBundle                     // the script of a host with a Tool
)

// The Step of the targets of KindTrap that stand in a script, and in a javascript: URL.
const (
	ScriptTrap    = 1
	ScriptURLTrap = 5
)

// Target is what a URL of the world names. It is comparable and holds no pointer.
type Target struct {
	Host int32 // -1 for KindNoHost
	Page uint32
	Kind TargetKind
	Step uint8
}

// MediaType is the type of a page.
type MediaType uint8

// The types.
const (
	MediaHTML MediaType = iota
	MediaPNG
	MediaCSS
	MediaPDF
	MediaScript
)

// Area says which rule of its host's robots.txt concerns a page.
type Area uint8

const (
	areaNone   Area = iota
	areaDeny        // Disallow: /private/
	areaOpen        // Allow: /private/open/, longer
	areaEnd         // Disallow: /*.secret$
	areaQuery       // .secret with a query behind it: not matched by $
	areaMiddle      // Disallow: /*/hidden/
	areaCount
)

// IsDenied reports whether robots.txt denies the area.
func (a Area) IsDenied() bool { return a == areaDeny || a == areaEnd || a == areaMiddle }

// Page is what is true of one page.
type Page struct {
	Shape Shape
	Media MediaType
	Area  Area
	style uint8
	Copy  uint16 // which of the payloads that several pages share, plus 1
	Words uint32
	Bytes int // bytes, about

	isInSeries bool
	isPlain    bool // of a host with folders: an even page may be that of a folder, with the next one in it
	isFolder   bool
	folder     int  // the page of the folder that it is in; 0 for none
	IsUnlinked bool // no page links to it
}

// PageAt draws the facts of a page, 0 <= p < h.Pages. Only leaves of the tree are odd in any way.
func (h *Host) PageAt(p int) Page {
	f := h.draw(p)
	switch {
	case !f.isPlain:
	case p%2 == 0:
		f.isFolder = p+1 < h.Pages && h.draw(p+1).isPlain
		f.IsUnlinked = f.isFolder
	default:
		if folder := h.draw(p - 1); folder.isPlain {
			f.folder, f.Words = p-1, folder.Words
		}
	}
	return f
}

// draw draws the facts of a page without its folder.
func (h *Host) draw(p int) Page {
	m := h.model
	hash := h.Hash(saltPage, p)
	f := Page{Words: uint32(hash >> 8), Bytes: int(m.sizes[hash>>52])}
	if h.Tool != NoTool && hash>>63 == 0 {
		f.Bytes = 256 // a page from the server with little text, as a shell has
	}
	r := draw.RNG(hash)
	f.style = uint8(r.Below(pathStyles))
	if !h.IsLeaf(p) {
		return f
	}
	f.Shape = Shape(m.shapes.Draw(r.Next()))
	if h.IsDrawn && f.Shape == ShapeHuge {
		f.Shape = ShapePlain // nothing but text makes a page huge
	}
	if h.Robots.rules() {
		f.Area = Area(r.Below(2 * int(areaCount)))
		if f.Area >= areaCount {
			f.Area = areaNone
		}
	}
	switch {
	case f.Shape != ShapePlain || f.Area != areaNone:
	case r.Float() < m.config.OtherShare:
		f.Media = MediaPNG + MediaType(r.Below(3))
	case r.Float() < m.config.CopyShare:
		f.Copy = uint16(1 + r.Below(m.config.Copies))
	case h.series != 0:
		f.isInSeries, f.Words = true, h.series
		f.IsUnlinked = r.Float() < m.config.Unlinked
	case h.hasFolders:
		f.isPlain = p%2 == 1 || r.Float() < m.config.Unlinked
	}
	return f
}

// pathStyles is the number of ways pages are named.
const pathStyles = 8

// appendPagePath appends a page's path and query in normal form. The last run of digits is the page's number, and the
// words hold none, so that Locate can read it back.
func appendPagePath(dst []byte, p int, f *Page) []byte {
	if p == 0 {
		return append(dst, '/')
	}
	w1, w2 := corpus.Word(f.Words), corpus.Word(f.Words>>8)
	num := func(before, after string) []byte {
		dst = append(dst, before...)
		dst = strconv.AppendInt(dst, int64(p), 10)
		return append(dst, after...)
	}
	dst = append(dst, '/')
	switch f.Media {
	case MediaPNG:
		return num("img/", ".png")
	case MediaCSS:
		return num("css/theme-", ".css")
	case MediaPDF:
		return num("doc/report-", ".pdf")
	}
	switch f.Area {
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
	switch {
	case f.isInSeries:
		return num("/item-", ".html")
	case f.isFolder:
		return num("/", "/")
	case f.folder > 0:
		dst = strconv.AppendInt(append(dst, '/'), int64(f.folder), 10)
		return num("/item-", ".html")
	}
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
