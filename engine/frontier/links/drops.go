package links

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// numbering is what is known of the links of a page beside Finder.Links.
//
// A link is known by the number of its reference in the page. A filter does not change these numbers, so those that a
// program has dropped are found again when the archive is read under other filters.
type numbering struct {
	references int      // so far
	ofResponse int      // of them; those behind it are no part of it: early hints, mined, --hook page
	earlyFrom  int      // index in Links of the first link that is no part of the response
	numbers    []int    // of each link
	spellings  []byte   // see Finder.Spellings
	drops      string   // what Drop has removed, as in capture.DroppedField
	scores     string   // what Rescore has set, as in capture.ScoresField
	rescored   []byte   // memory for Links
	anchors    [][]byte // the text of each link, if Options.Judged is set. Borrowed
}

func (d *numbering) reset() {
	if max(cap(d.numbers)*8, cap(d.rescored)) > linksKept {
		*d = numbering{}
	}
	d.references, d.ofResponse, d.earlyFrom, d.drops, d.scores = 0, math.MaxInt, math.MaxInt, "", ""
	d.numbers, d.anchors, d.spellings = d.numbers[:0], d.anchors[:0], d.spellings[:0]
}

// addLink adds a link to Links.
func (l *Finder) addLink(kind parse.Kind, score int, url []byte) {
	l.Links = journal.AppendScored(l.Links, kind, score, url)
	d := &l.numbering
	d.numbers = append(d.numbers, d.references-1)
	if l.O.Judged {
		d.anchors = append(d.anchors, l.passage.anchor)
	}
}

// Spellings has a line for each link that --normal-form has changed: the link, a space, and how the page has it, in the
// form whatwg. It is borrowed.
func (l *Finder) Spellings() []byte { return l.numbering.spellings }

// EachWithText calls f for each link, with its text. All is borrowed.
func (l *Finder) EachWithText(f func(kind parse.Kind, url, text []byte)) {
	i := 0
	err := journal.EachLink(l.Links, func(kind parse.Kind, url []byte) {
		f(kind, url, l.numbering.anchors[i])
		i++
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: links: the list of links that was just made cannot be read: %v", err))
	}
}

// Drop removes links, by their places in Links, which ascend. HookDrops returns them then.
func (l *Finder) Drop(places []int) {
	if len(places) == 0 {
		return
	}
	d := &l.numbering
	total := min(d.references, d.ofResponse)
	bits := make([]byte, (total+7)/8)
	i := -1
	l.Refused.Hook += l.keepLinks(func(parse.Kind, []byte) bool {
		if i++; len(places) == 0 || places[0] != i {
			return true
		}
		places = places[1:]
		if n := d.numbers[i]; n < total {
			bits[n/8] |= 1 << (n % 8)
		}
		return false
	})
	d.drops = strconv.Itoa(total) + " " + base64.StdEncoding.EncodeToString(bits)
}

// HookDrops returns what Drop has removed, as in capture.DroppedField; "" if it has removed nothing.
func (l *Finder) HookDrops() string { return l.numbering.drops }

// Rescore gives links other scores, by their places in Links. One below 0 is none, and so are missing ones. HookScores
// returns those of all links then.
func (l *Finder) Rescore(scores []int) {
	if len(scores) == 0 {
		return
	}
	d := &l.numbering
	total := min(d.references, d.ofResponse)
	nibbles, isOther := make([]byte, (total+1)/2), false
	l.setScores(func(place, score int) int {
		before := score
		if place < len(scores) && scores[place] >= 0 {
			score = min(scores[place], queued.ScoreMax)
		}
		isOther = isOther || score != before
		if n := d.numbers[place]; n < total {
			nibbles[n/2] |= byte(score << (n % 2 * 4))
		}
		return score
	})
	if isOther {
		d.scores = strconv.Itoa(total) + " " + base64.StdEncoding.EncodeToString(nibbles)
	}
}

// HookScores returns what Rescore has set, as in capture.ScoresField; "" if it has changed nothing.
func (l *Finder) HookScores() string { return l.numbering.scores }

// JudgeAgain does what Drop and Rescore have done when the page was fetched, by the texts of HookDrops and HookScores.
// It does nothing if the page has another number of references now, by other settings: a link that is asked for is
// better than one that is lost.
func (l *Finder) JudgeAgain(drops, scores string) {
	d := &l.numbering
	if nibbles, ok := d.readField(scores, 4); ok {
		l.setScores(func(place, _ int) int {
			n := d.numbers[place]
			return int(nibbles[n/2] >> (n % 2 * 4) & queued.ScoreMax)
		})
	}
	if bits, ok := d.readField(drops, 1); ok {
		i := -1
		l.Refused.Hook += l.keepLinks(func(parse.Kind, []byte) bool {
			i++
			n := d.numbers[i]
			return bits[n/8]>>(n%8)&1 == 0
		})
	}
}

// readField reads a field with a value of some bits for each reference. It reports false if the page has another number
// of references.
func (d *numbering) readField(text string, bits int) (values []byte, ok bool) {
	count, encoded, _ := strings.Cut(text, " ")
	values, err := base64.StdEncoding.DecodeString(encoded)
	return values, err == nil && count == strconv.Itoa(d.references) && len(values) == (d.references*bits+7)/8
}

// setScores gives each link the score that f returns for its place and the score that it has.
func (l *Finder) setScores(f func(place, score int) int) {
	i, d := 0, &l.numbering
	early := math.MaxInt
	d.rescored = d.rescored[:0] // not in place: a score may make a link longer
	err := journal.EachScored(l.Links, func(kind parse.Kind, score int, url []byte) {
		if d.numbers[i] >= d.ofResponse {
			early = min(early, len(d.rescored))
		}
		d.rescored = journal.AppendScored(d.rescored, kind, f(i, score), url)
		i++
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: links: the list of links that was just made cannot be read: %v", err))
	}
	l.Links, d.rescored, d.earlyFrom = d.rescored, l.Links, early
}

// SkipOfNear leaves only the links that a near-duplicate's readers need to see it as it is: page requisites, and what
// it refreshes to.
func (l *Finder) SkipOfNear() {
	l.NearSkipped += l.Keep(func(kind parse.Kind) bool { return kind.IsRequisite() || kind == parse.MetaRefresh })
}

// Keep leaves only the links of some kinds, and returns how many others there were.
func (l *Finder) Keep(isWanted func(parse.Kind) bool) (dropped int) {
	return l.keepLinks(func(kind parse.Kind, _ []byte) bool { return isWanted(kind) })
}

// keepLinks leaves only the links that are wanted, and returns how many others there were.
func (l *Finder) keepLinks(isWanted func(kind parse.Kind, url []byte) bool) (dropped int) {
	d := &l.numbering
	kept, i, n := l.Links[:0], 0, 0 // a link is copied to its place or before it
	early := math.MaxInt
	err := journal.EachScored(l.Links, func(kind parse.Kind, score int, url []byte) {
		if d.numbers[i] >= d.ofResponse {
			early = min(early, len(kept))
		}
		if isWanted(kind, url) {
			kept = journal.AppendScored(kept, kind, score, url)
			if d.numbers[n] = d.numbers[i]; l.O.Judged {
				d.anchors[n] = d.anchors[i]
			}
			n++
		}
		i++
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: links: the list of links that was just made cannot be read: %v", err))
	}
	l.Links, d.numbers, d.earlyFrom = kept, d.numbers[:n], early
	d.anchors = d.anchors[:min(n, len(d.anchors))]
	return i - n
}

// endResponse says that the links from here on are no part of the response.
func (l *Finder) endResponse() {
	d := &l.numbering
	d.earlyFrom, d.ofResponse = min(d.earlyFrom, len(l.Links)), min(d.ofResponse, d.references)
	l.leadOn(l.Index)
}
