package hostile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"orbweaver/engine"
	"orbweaver/internal/outcome"
)

// As much is kept as may be, to the byte.
func TestHostile_H06_aBodyWithoutEndIsCutAtTheLimit(t *testing.T) {
	play(t, "H06", func(c *engine.Config) { c.Fetch.BodyMax = 100_000 }, func(tr *trial) {
		tr.all("h06.test", want{"/close", outcome.TruncatedLength, "length", strings.Repeat("endless ", 12_500)})
		tr.wants("http://h06.test/chunks", outcome.TruncatedLength)
		body := bodyOf(tr.record("http://h06.test/chunks", "length"))
		const chunk = "2000\r\n\r\n" // of 8 KiB; the last has no line end
		if want := 100_000 + 13*len(chunk) - 2; len(body) != want {
			tr.Errorf("%d bytes in chunks, want %d", len(body), want)
		}
	})
}

// A page of exactly the limit is whole, in every framing.
func TestHostile_H07_aBodyIsCutOnlyIfAByteWasDropped(t *testing.T) {
	play(t, "H07", nil, func(tr *trial) {
		const limit = bodyMax
		for _, framing := range []string{"length", "chunked", "close"} {
			for _, more := range []int{-1, 0, 1} {
				url, o, cut := fmt.Sprintf("http://h07.test/%d?%s", limit+more, framing), outcome.OK, ""
				if more > 0 {
					o, cut = outcome.TruncatedLength, "length"
				}
				tr.wants(url, o)
				if n := len(bodyOf(tr.record(url, cut))); framing != "chunked" && n != min(limit, limit+more) {
					tr.Errorf("%s: %d bytes are kept", url, n)
				}
			}
		}
	})
}

// What is missing is missed; an error is an error all the same, and its record says what it lacks.
func TestHostile_H08_aShortBodyIsNoWholeOne(t *testing.T) {
	play(t, "H08", nil, func(tr *trial) {
		tr.all(
			"h08.test",
			want{"/length", outcome.TruncatedDisconnect, "disconnect", "<a href=\"/found\">the rest is missing"},
			want{"/404", outcome.ClientError, "disconnect", "not even"},
		)
		if n := len(tr.attempts("http://h08.test/length")); n < 2 {
			tr.Errorf("tried %d times: it may have been an accident", n)
		}
		tr.wants("http://h08.test/found", outcome.ClientError) // what came is searched for links
	})
}

// What follows the body is none of it, and of nothing else either, on connections that are kept.
func TestHostile_H09_surplusIsNoPayload(t *testing.T) {
	play(t, "H09", keepAlive, func(tr *trial) {
		tr.wants("http://h09.test/at-once", outcome.OK)
		tr.wants("http://h09.test/later", outcome.OK)
		for _, path := range []string{"/at-once", "/later"} {
			for _, rec := range tr.records["http://h09.test"+path] {
				if bytes.Contains(rec.Block, []byte("surplus")) {
					tr.Errorf("%s: %q", path, rec.Block)
				}
			}
		}
	})
}

// keepAlive has connections be kept for longer than it takes until a site's next turn.
func keepAlive(c *engine.Config) { c.Workers.KeepAlive, c.Workers.IdleConnsMax = time.Minute, 100 }

// A length is the same wherever it is said. One that is no number says nothing, and the body ends with the connection:
// browsers do the same (the fetch standard, "extract a length") and show the page, so its links are followed.
func TestHostile_H10_lengthsAreReadAsBrowsersDo(t *testing.T) {
	play(t, "H10", nil, func(tr *trial) {
		for _, path := range []string{"/2e64", "/2e64and5", "/list-differs", "/fields-differ"} {
			tr.all("h10.test", want{path, outcome.Protocol, "unspecified", path[:5]})
		}
		for _, path := range []string{
			"/list", "/fields", "/spaces", "/zeros", "/negative", "/plus", "/hexadecimal", "/empty", "/text", "/inner-space",
		} {
			tr.all("h10.test", want{path, outcome.OK, "", path[:5]})
		}
	})
}

// The chunks count where there can be chunks.
func TestHostile_H11_chunksCountBeforeALength(t *testing.T) {
	play(t, "H11", keepAlive, func(tr *trial) {
		tr.all(
			"h11.test",
			want{"/both", outcome.OK, "", "5\r\nhello\r\n0\r\n\r\n"},
			want{"/both-1.0", outcome.OK, "", "5\r\nhello\r\n0\r\n\r\n"},
		)
	})
}

// A size that is none ends the body; what came up to there is kept.
func TestHostile_H12_aChunkSizeIsANumber(t *testing.T) {
	play(t, "H12", nil, func(tr *trial) {
		for path, kept := range map[string]string{
			"/overflow": "2\r\nhe\r\nFFFFFFFFFFFFFFFF", "/wraps": "2\r\nhe\r\n1000000000000000", "/negative": "2\r\nhe\r\n-",
			"/empty":    "2\r\nhe\r\n\r",
			"/prefixed": "2\r\nhe\r\n0x", "/too-short": "2\r\nhel", "/no-chunks": "<",
		} {
			tr.all("h12.test", want{path, outcome.Protocol, "unspecified", kept})
		}
	})
}

// Chunks may cost an eighth of what they bring. A size line has 4 KiB, and extensions may cost 16 KiB more than their
// chunks hold.
func TestHostile_H13_whatChunksCostIsBounded(t *testing.T) {
	play(t, "H13", nil, func(tr *trial) {
		for path, most := range map[string]int{"/extension": 4 << 10, "/extensions": 16 << 10, "/zeros": 4 << 10} {
			tr.wants("http://h13.test"+path, outcome.Protocol)
			if n := len(bodyOf(tr.record("http://h13.test"+path, "unspecified"))); n < most || n > most+most/4 {
				tr.Errorf("%s: %d bytes are kept", path, n)
			}
		}
		tr.wants("http://h13.test/bytes", outcome.TruncatedLength)
		if n := len(bodyOf(tr.record("http://h13.test/bytes", "length"))); n > 9*bodyMax/8 {
			tr.Errorf("chunks of a byte: %d bytes are kept", n)
		}
	})
}

// A body whose last chunk came is whole, and rubbish in its trailer does not change that: nothing in there is read.
// Else it is cut, if the trailer never ends or is too long as well. (The table would have rubbish be a disconnect, too;
// but all of the body is there.)
func TestHostile_H14_aBodyEndsWithItsLastChunk(t *testing.T) {
	play(t, "H14", nil, func(tr *trial) {
		tr.all(
			"h14.test",
			want{"/no-last", outcome.TruncatedDisconnect, "disconnect", "2\r\nhe\r\n"},
			want{"/cut-trailer", outcome.TruncatedDisconnect, "disconnect", "2\r\nhe\r\n0\r\nX-Trailer: so"},
			want{
				"/rubbish",
				outcome.OK,
				"",
				"2\r\nhe\r\n0\r\nno colon\r\n\x00\xff: \r\n:\r\nContent-Length: 9\r\n\r\n",
			},
		)
		for _, path := range []string{"/long", "/endless"} {
			tr.wants("http://h14.test"+path, outcome.TruncatedDisconnect)
			if n := len(bodyOf(tr.record("http://h14.test"+path, "disconnect"))); n > 17<<10 {
				tr.Errorf("%s: %d bytes are kept", path, n)
			}
		}
	})
}

// What was sent before the end is kept, if it came.
func TestHostile_H26_aBrokenConnectionCutsTheBody(t *testing.T) {
	play(t, "H26", nil, func(tr *trial) {
		tr.all(
			"h26.test",
			want{"/closed", outcome.TruncatedDisconnect, "disconnect", "<p>half of"},
			want{"/reset", outcome.TruncatedDisconnect, "disconnect", "<p>half of"},
		)
	})
}

// What has no type is looked at, what has one is taken for it, and a type is as long as a line of a head may be.
func TestHostile_H27_aTypeIsALineOfAHead(t *testing.T) {
	play(t, "H27", nil, func(tr *trial) {
		for _, path := range []string{"/none", "/empty", "/charsets", "/parameters", "/nonsense"} {
			tr.wants("http://h27.test"+path, outcome.OK)
			tr.wants("http://h27.test"+path+"/found", outcome.ClientError)
		}
		for _, path := range []string{"/image", "/two"} { // of two types the last counts, as in browsers
			tr.wants("http://h27.test"+path, outcome.OK)
			tr.never("http://h27.test" + path + "/found")
		}
		for _, path := range []string{"/long", "/10000-charsets"} {
			tr.wants("http://h27.test"+path, outcome.HeaderTooLarge)
			if n := len(tr.record("http://h27.test"+path, "length").Block); n > 256<<10 {
				tr.Errorf("%s: %d bytes are kept", path, n)
			}
		}
	})
}

// Endless in haste is cut by size, endless at leisure by time.
func TestHostile_H28_whatIsNotMeantToEndIsEnded(t *testing.T) {
	play(t, "H28", nil, func(tr *trial) {
		for _, path := range []string{"/multipart", "/radio"} {
			tr.wantsWithin("http://h28.test"+path, outcome.TruncatedLength, 5*time.Minute)
			if n := len(bodyOf(tr.record("http://h28.test"+path, "length"))); n != bodyMax {
				tr.Errorf("%s: %d bytes are kept", path, n)
			}
		}
		tr.wantsWithin("http://h28.test/events", outcome.TruncatedTime, time.Minute)
		if rec := tr.record("http://h28.test/events", "time"); !bytes.Contains(
			rec.Block,
			[]byte("event: tick\ndata: {}\n\n"),
		) {
			tr.Errorf("%q", rec.Block)
		}
	})
}
