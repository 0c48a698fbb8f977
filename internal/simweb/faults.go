package simweb

import "orbweaver/internal/simweb/draw"

// Shape is how a page is answered.
type Shape uint8

// The shapes.
const (
	ShapePlain Shape = iota

	// ShapeChunked and the following are answers of unusual form: the page must be stored.
	ShapeChunked
	ShapeChunkedOdd
	ShapeGzip
	ShapeLyingGzip
	ShapeOddHeaders
	ShapeSurplus
	ShapeUntilClose
	ShapeSlow
	ShapeHuge

	// ShapeOnceError and the following fail at the first try, and from the second on the page is plain.
	ShapeOnceError
	ShapeOnceUnavailable
	ShapeOnceReset
	ShapeOnceCut

	// ShapeNotFound and the following are never a page.
	ShapeNotFound
	ShapeGone
	ShapeError
	ShapeUnavailable
	ShapeReset
	ShapeResetMid
	ShapeStall
	ShapeStallMid
	ShapeTruncated
	ShapeChunkedCut
	shapeRedirect
	shapeRedirectAway
	shapeRedirectLoop
)

// Faults holds the share of pages answered in each odd way, among the pages that carry no tree link (all but about one
// in PageFanout), so that a fault never hides another page. The shares add up to at most 1; the rest is plain.
type Faults struct {
	Variants
	FirstTry
	Failures
	Redirects

	DeadLinks float64 // share of extra links to pages that do not exist (404)
	NoHost    float64 // share of extra links to hosts that do not exist
}

// Variants are answers that a crawler stores, though their form is unusual.
type Variants struct {
	Chunked    float64 // valid chunked body
	ChunkedOdd float64 // valid chunked body of odd chunks with extensions and trailers
	Gzip       float64 // gzip content encoding
	LyingGzip  float64 // says gzip and is plain
	OddHeaders float64 // legal or tolerated anomalies in the head
	Surplus    float64 // more bytes than Content-Length says; the payload is what it says
	UntilClose float64 // HTTP/1.0, no length
	Slow       float64 // in small pieces over Timing.Slow
	Huge       float64 // Timing.HugeBytes of body
}

// FirstTry are failures of the first request for a page.
type FirstTry struct {
	OnceError   float64 // 500
	OnceUnavail float64 // 503 with Retry-After
	OnceReset   float64 // connection reset
	OnceCut     float64 // body cut short
}

// Failures are pages that never arrive whole.
type Failures struct {
	NotFound    float64 // 404
	StatusGone  float64 // 410
	Error       float64 // 500
	Unavailable float64 // 503 with Retry-After, always
	Reset       float64 // reset before the answer
	ResetMid    float64 // reset within the body
	Stall       float64 // no answer
	StallMid    float64 // no end of the body
	Truncated   float64 // connection closed before Content-Length bytes
	ChunkedCut  float64 // connection closed before the last chunk
}

// Redirects are pages that lead elsewhere.
type Redirects struct {
	Redirect     float64 // one to five hops to a page that nothing else links to
	RedirectAway float64 // to another host's root
	RedirectLoop float64 // in a circle
}

// AllFaults has every fault at the same rate.
func AllFaults(rate float64) Faults {
	return Faults{
		Variants: Variants{
			Chunked: rate, ChunkedOdd: rate, Gzip: rate, LyingGzip: rate, OddHeaders: rate, Surplus: rate, UntilClose: rate,
			Slow: rate, Huge: rate,
		},
		FirstTry: FirstTry{OnceError: rate, OnceUnavail: rate, OnceReset: rate, OnceCut: rate},
		Failures: Failures{
			NotFound: rate, StatusGone: rate, Error: rate, Unavailable: rate, Reset: rate, ResetMid: rate, Stall: rate,
			StallMid: rate, Truncated: rate, ChunkedCut: rate,
		},
		Redirects: Redirects{Redirect: rate, RedirectAway: rate, RedirectLoop: rate},
		DeadLinks: rate, NoHost: rate,
	}
}

// Harmless has those variants at the same rate that a sound crawler archives whole at the first try.
func Harmless(rate float64) Faults {
	return Faults{Variants: Variants{
		Chunked: rate, ChunkedOdd: rate, Gzip: rate, LyingGzip: rate, OddHeaders: rate, Surplus: rate, UntilClose: rate,
	}}
}

// shapeTable draws shapes: its arguments are in their order.
func shapeTable(f *Faults) (draw.Table, error) {
	return draw.NewTable("faults",
		f.Chunked, f.ChunkedOdd, f.Gzip, f.LyingGzip, f.OddHeaders, f.Surplus, f.UntilClose, f.Slow, f.Huge,
		f.OnceError, f.OnceUnavail, f.OnceReset, f.OnceCut,
		f.NotFound, f.StatusGone, f.Error, f.Unavailable, f.Reset, f.ResetMid, f.Stall, f.StallMid, f.Truncated, f.ChunkedCut,
		f.Redirect, f.RedirectAway, f.RedirectLoop)
}
