package throughput

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"
)

// web computes the fabricated web. It is immutable.
type web struct {
	hosts uint64
	seed  uint64
	alone bool   // each page draws its host separately and evenly
	text  []byte // of large pages
}

const (
	children = 10 // new links of a page
	together = 8  // of these, those that share a host
	known    = 10 // links of a page that were found before
)

// mix is the finaliser of splitmix64: every bit of n affects every bit of the result.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// thinkMost is the longest pause before a response, in multiples of the mean.
const thinkMost = 10

// think is the pause before the response to a URL: exponential, the same for the same URL.
func (w *web) think(url []byte, mean time.Duration) time.Duration {
	if mean <= 0 {
		return 0
	}
	share := float64(mix(xxh3.Hash(url)^w.seed)>>11) / (1 << 53) // below 1
	return time.Duration(min(-math.Log(1-share), thinkMost) * float64(mean))
}

// host is the host of page n: eight children of a page share one, drawn by their parent's number, the others have hosts
// of their own. Low numbers are drawn more often, as the square of an even draw falls.
func (w *web) host(n uint64) uint64 {
	if w.alone {
		h, _ := bits.Mul64(mix(n^w.seed), w.hosts)
		return h
	}
	draw := 2 * n
	if n > 0 && (n-1)%children < together {
		draw = 2*((n-1)/children) + 1
	}
	u := mix(draw ^ w.seed)
	square, _ := bits.Mul64(u, u)
	h, _ := bits.Mul64(square, w.hosts)
	return h
}

// appendURL appends the URL of page n: some sixty bytes of path, alike within a host as paths are.
func (w *web) appendURL(dst []byte, n uint64) []byte {
	m := mix(n)
	dst = append(dst, "http://h"...)
	dst = strconv.AppendUint(dst, w.host(n), 10)
	dst = append(dst, ".frontier.test/archive/"...)
	dst = strconv.AppendUint(dst, 1996+m%30, 10)
	dst = append(dst, "/section-"...)
	dst = strconv.AppendUint(dst, m>>8%50, 10)
	dst = append(dst, '/')
	dst = append(dst, words[m>>16%16]...)
	dst = append(dst, '-')
	dst = append(dst, words[m>>20%16]...)
	dst = append(dst, "/page-"...)
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, ".html"...)
}

var words = [16]string{
	"orchard", "weaving", "silken", "thread", "radius", "spiral", "capture", "anchor",
	"bridges", "harbour", "lantern", "meadow", "quarry", "saffron", "timber", "willow",
}

// number reads the number of a page from its URL; false for other URLs.
func number(url []byte) (n uint64, ok bool) {
	i := bytes.LastIndex(url, []byte("/page-"))
	if i < 0 {
		return 0, false
	}
	digits, ok := bytes.CutSuffix(url[i+len("/page-"):], []byte(".html"))
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, ok && len(digits) > 0 && len(digits) < 20
}

// appendResponse appends the response to a request for url: a page with ten new links and without further text.
func (w *web) appendResponse(dst, url []byte) []byte {
	return w.appendPage(dst, url, children, known, 0)
}

// appendWholeResponse appends a page like those of a crawl: one of twenty links is new, and it has 16 KiB of text.
func (w *web) appendWholeResponse(dst, url []byte) []byte {
	return w.appendPage(dst, url, 1, children+known-1, wholeText)
}

const (
	wholeText = 16 << 10
	textBytes = 1 << 20 // to take the text of pages from
)

// makeText draws words that compress as well as those of a page.
func (w *web) makeText() {
	for n := uint64(0); len(w.text) < textBytes; n++ {
		m := mix(n ^ w.seed)
		w.text = append(append(w.text, words[m%16]...), words[m>>4%16][:2+m>>8%4]...)
		w.text = append(strconv.AppendUint(w.text, m>>16%100, 10), ' ')
	}
}

// appendPage appends the page of a URL, with so many links of either kind and so much text.
func (w *web) appendPage(dst, url []byte, fresh, old uint64, text int) []byte {
	if bytes.HasSuffix(url, []byte("/robots.txt")) {
		return append(dst, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"...)
	}
	n, ok := number(url)
	if !ok {
		return append(dst, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"...)
	}
	dst = append(dst,
		"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\nContent-Length: "+
			"00000000\r\n\r\n"...)
	head := len(dst)
	dst = append(dst, "<!DOCTYPE html><html><head><title>"...)
	dst = strconv.AppendUint(dst, n, 10)
	dst = append(dst, "</title></head><body>\n"...)
	for i := range fresh {
		dst = w.appendLink(dst, children*n+1+i)
	}
	for i := range old {
		// Half of them near by, half of them anywhere: the older a page the more links it has.
		up := n
		if i%2 == 1 && n > 0 {
			up, _ = bits.Mul64(mix(n+i), n)
		}
		dst = w.appendLink(dst, (up+i/2)/children)
	}
	if text > 0 {
		at := int(mix(n) % uint64(len(w.text)-text))
		dst = append(dst, w.text[at:at+text]...)
	}
	dst = append(dst, "</body></html>\n"...)
	size := len(dst) - head
	for i := range 8 {
		dst[head-5-i] = byte('0' + size%10)
		size /= 10
	}
	return dst
}

func (w *web) appendLink(dst []byte, n uint64) []byte {
	dst = append(dst, "<a href=\""...)
	dst = w.appendURL(dst, n)
	return append(dst, "\">more</a>\n"...)
}
