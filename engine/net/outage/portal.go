package outage

import (
	"bytes"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/outcome"
)

// AnswerKind says how a response could be that of a gateway.
type AnswerKind uint8

// The kinds.
const (
	PlainAnswer  AnswerKind = iota // only if it is a page, and others have the same content
	AwayAnswer                     // a redirect to another host
	DeniedAnswer                   // a refusal, 4xx, of a request that a proxy has read
)

// portal finds the answers of a captive portal: sites that have served pages redirect, all to one host outside of
// their domains. Or all of them give the same content, and so does a robots.txt. Answers that are equal in this sense,
// with no other between, are a row. A row is suspect only if this crawl has never met such an answer before: parked
// names, and the names of one company, redirect to one host from the beginning. An answer counts as met when another
// one follows.
type portal struct {
	domainOf func(host []byte) []byte

	key       uint64 // of the last answer, and so of the row
	content   uint64 // hash of the content of the row; 0 if it is not known
	hasRobots bool   // an answer of the row is that to a request of robots.txt
	hasAsked  bool   // a proof has been asked for
	isSure    bool   // the row is that of a gateway: an outage, or robots.txt gives this answer, too
	row       row    // of domains; only answers of sites that have served pages
	first     []byte // the host of its first answer, before its domain is needed
	isFirst   bool   // the row has only this answer
	startedAt time.Time
	metKeys   [metAnswers]uint64 // keys of answers that have been met
}

const (
	suspectFrom   = 3                // answers of a row from which they are suspect
	beliefAfter   = 30 * time.Minute // a row of fewer than wayPlacesMin domains is believed after this time
	metAnswers    = 1 << 12
	plainRowProof = wayPlacesMin // domains of a row of pages for which a robots.txt is asked as a proof
)

// judge evaluates an answer.
func (p *portal) judge(a *Answer) Suspicion {
	key := p.keyOf(a)
	if key != p.key || a.Kind == PlainAnswer && p.differs(a) {
		if !a.FirstByte.Before(p.startedAt) { // else it was on its way before
			p.restart(key, a)
		}
		return Believed
	}
	if p.metKeys[key%metAnswers] == key || a.Kind == PlainAnswer && !outcome.IsPageStatus(a.Status) {
		return Believed
	}
	p.hasRobots = p.hasRobots || a.IsRobots
	if a.Served {
		p.add(a)
	}
	switch {
	case p.row.count < suspectFrom:
		return Believed
	case a.Kind == PlainAnswer && !p.hasRobots:
		if len(p.row.places) < plainRowProof || !a.Served || p.hasAsked {
			return Believed
		}
		p.hasAsked = true
		return AskRobots
	case a.Kind == PlainAnswer && len(p.row.places) < suspectFrom:
		return Believed
	case len(p.row.places) < wayPlacesMin && a.EndedAt.Sub(p.row.firstAt) >= beliefAfter:
		p.metKeys[key%metAnswers] = key
		return Believed
	}
	p.isSure = p.isSure || p.hasRobots || p.row.isOutage(a.EndedAt)
	return Suspect
}

// keyOf returns the hash of what makes an answer equal to others. A redirect within a domain is a plain answer.
func (p *portal) keyOf(a *Answer) uint64 {
	if a.Kind == AwayAnswer {
		if !bytes.Equal(p.domainOf(a.Host), p.domainOf(a.Target)) {
			return xxh3.Hash(a.Target) | 1
		}
		a.Kind = PlainAnswer
	}
	return (uint64(a.Status)<<40 ^ uint64(len(a.Payload))<<1 | 1) * 0x9e3779b97f4a7c15
}

// differs reports whether an answer with the key of the row has other content.
func (p *portal) differs(a *Answer) bool {
	if p.metKeys[p.key%metAnswers] == p.key {
		return false
	}
	content := xxh3.Hash(a.Payload) | 1
	if p.content == 0 {
		p.content = content
	}
	return content != p.content
}

// add adds an answer of a site that has served pages to the row.
func (p *portal) add(a *Answer) {
	if p.isFirst {
		p.row.add(p.domainOf(p.first), p.startedAt)
		p.isFirst = false
	}
	p.row.add(p.domainOf(a.Host), a.EndedAt)
}

// restart begins a row. The last one has been met, unless it was that of a gateway.
func (p *portal) restart(key uint64, a *Answer) {
	if p.key != 0 && !p.isSure {
		p.metKeys[p.key%metAnswers] = p.key
	}
	p.row.clear()
	p.key, p.content, p.startedAt = key, 0, a.EndedAt
	p.hasRobots, p.hasAsked, p.isSure = a.IsRobots, false, false
	if p.isFirst = a.Served; p.isFirst {
		p.first = append(p.first[:0], a.Host...)
	}
}
