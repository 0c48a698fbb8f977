package simweb

import "fmt"

// shape is how a page is answered.
type shape uint8

const (
	shapePlain shape = iota
	// Answered in an odd but legal way: the page is to be stored.
	shapeChunked
	shapeChunkedOdd
	shapeGzip
	shapeLyingGzip
	shapeOddHeaders
	shapeSurplus
	shapeUntilClose
	shapeSlow
	shapeHuge
	// The first try fails, and from the second on the page is plain.
	shapeOnceError
	shapeOnceUnavailable
	shapeOnceReset
	shapeOnceCut
	// Never a page.
	shapeNotFound
	shapeGone
	shapeError
	shapeUnavailable
	shapeReset
	shapeResetMid
	shapeStall
	shapeStallMid
	shapeTruncated
	shapeChunkedCut
	shapeRedirect
	shapeRedirectAway
	shapeRedirectLoop
)

// Faults holds the share of pages answered in each odd way, among the pages that carry no tree link (all but about one
// in PageFanout), so that a fault never hides another page. The shares add up to at most 1; the rest is plain.
type Faults struct {
	Chunked     float64 // valid chunked body
	ChunkedOdd  float64 // valid chunked body of odd chunks with extensions and trailers
	Gzip        float64 // gzip content encoding
	LyingGzip   float64 // says gzip and is plain
	OddHeaders  float64 // legal or tolerated oddities in the head
	Surplus     float64 // more bytes than Content-Length says; the payload is what it says
	UntilClose  float64 // HTTP/1.0, no length
	Slow        float64 // in small pieces over Timing.Slow
	Huge        float64 // Timing.HugeBytes of body
	OnceError   float64 // 500 at the first try
	OnceUnavail float64 // 503 with Retry-After at the first try
	OnceReset   float64 // connection reset at the first try
	OnceCut     float64 // body cut short at the first try

	NotFound     float64 // 404
	Gone         float64 // 410
	Error        float64 // 500
	Unavailable  float64 // 503 with Retry-After, always
	Reset        float64 // reset before the answer
	ResetMid     float64 // reset within the body
	Stall        float64 // no answer
	StallMid     float64 // no end of the body
	Truncated    float64 // connection closed before Content-Length bytes
	ChunkedCut   float64 // connection closed before the last chunk
	Redirect     float64 // one to five hops to a page that nothing else links to
	RedirectAway float64 // to another host's root
	RedirectLoop float64 // round in circles

	DeadLinks float64 // share of extra links to pages that do not exist (404)
	NoHost    float64 // share of extra links to hosts that do not exist
}

// AllFaults has every fault at the same rate.
func AllFaults(rate float64) Faults {
	return Faults{
		Chunked: rate, ChunkedOdd: rate, Gzip: rate, LyingGzip: rate, OddHeaders: rate, Surplus: rate, UntilClose: rate,
		Slow: rate, Huge: rate, OnceError: rate, OnceUnavail: rate, OnceReset: rate, OnceCut: rate,
		NotFound: rate, Gone: rate, Error: rate, Unavailable: rate, Reset: rate, ResetMid: rate, Stall: rate,
		StallMid: rate, Truncated: rate, ChunkedCut: rate, Redirect: rate, RedirectAway: rate, RedirectLoop: rate,
		DeadLinks: rate, NoHost: rate,
	}
}

// Harmless has the oddities at the same rate that a sound crawler archives whole at the first try.
func Harmless(rate float64) Faults {
	return Faults{Chunked: rate, ChunkedOdd: rate, Gzip: rate, LyingGzip: rate, OddHeaders: rate, Surplus: rate,
		UntilClose: rate}
}

// share is one line of a table that draws by rates.
type share struct {
	upto uint32 // of 2^32
	what uint8
}

type rate struct {
	share float64
	what  uint8
}

// drawTable turns rates into sums for draw.
func drawTable(name string, rates []rate) ([]share, error) {
	var table []share
	sum := 0.0
	for _, r := range rates {
		if r.share < 0 || r.share > 1 {
			return nil, fmt.Errorf("simweb: %s: rate %g: want 0 to 1", name, r.share)
		}
		if r.share == 0 {
			continue
		}
		sum += r.share
		table = append(table, share{upto: uint32(min(sum*(1<<32), 1<<32-1)), what: r.what})
	}
	if sum > 1+1e-9 {
		return nil, fmt.Errorf("simweb: %s: rates add up to %g: want at most 1", name, sum)
	}
	return table, nil
}

// draw picks by the top half of a hash; 0 if none of the table's.
func draw(table []share, hash uint64) uint8 {
	u := uint32(hash >> 32)
	for _, s := range table {
		if u < s.upto {
			return s.what
		}
	}
	return 0
}

func shapeTable(f Faults) ([]share, error) {
	return drawTable("faults", []rate{
		{f.Chunked, uint8(shapeChunked)}, {f.ChunkedOdd, uint8(shapeChunkedOdd)}, {f.Gzip, uint8(shapeGzip)},
		{f.LyingGzip, uint8(shapeLyingGzip)}, {f.OddHeaders, uint8(shapeOddHeaders)}, {f.Surplus, uint8(shapeSurplus)},
		{f.UntilClose, uint8(shapeUntilClose)}, {f.Slow, uint8(shapeSlow)}, {f.Huge, uint8(shapeHuge)},
		{f.OnceError, uint8(shapeOnceError)}, {f.OnceUnavail, uint8(shapeOnceUnavailable)},
		{f.OnceReset, uint8(shapeOnceReset)}, {f.OnceCut, uint8(shapeOnceCut)}, {f.NotFound, uint8(shapeNotFound)},
		{f.Gone, uint8(shapeGone)}, {f.Error, uint8(shapeError)}, {f.Unavailable, uint8(shapeUnavailable)},
		{f.Reset, uint8(shapeReset)}, {f.ResetMid, uint8(shapeResetMid)}, {f.Stall, uint8(shapeStall)},
		{f.StallMid, uint8(shapeStallMid)}, {f.Truncated, uint8(shapeTruncated)},
		{f.ChunkedCut, uint8(shapeChunkedCut)}, {f.Redirect, uint8(shapeRedirect)},
		{f.RedirectAway, uint8(shapeRedirectAway)}, {f.RedirectLoop, uint8(shapeRedirectLoop)},
	})
}
