package dnsres

import (
	"bytes"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// Heard is the text of the replies of name servers about a name, in the text form of records, for the archive.
type Heard struct {
	Server  netip.AddrPort // the server; the zero value if several replied
	At      time.Time      // of the first question
	Records []byte         // the records of the answers as lines of a master file, in order of arrival
	Omitted int            // number of omitted lines, since Records and Denials have heardMax bytes together
	// Denials are the replies that have no address or report a server failure: for each question a comment line with
	// its status, then the SOA records.
	Denials []byte
}

// heardMax is the most bytes of text about a name. An answer of 64 KiB can repeat a long name in thousands of records,
// and each alias brings another answer.
const heardMax = 64 << 10

// add adds a line to Records or Denials.
func (h *Heard) add(to *[]byte, line []byte) {
	if h.Omitted > 0 || len(h.Records)+len(h.Denials)+len(line) > heardMax {
		h.Omitted++
		return
	}
	*to = append(*to, line...)
}

// deny adds a reply without a record of the type, with "no such name", or with a server failure.
func (h *Heard) deny(reply *dns.Msg, name string, qtype uint16, server netip.AddrPort) {
	if len(h.Records)+len(h.Denials) == 0 {
		h.Server = server
	} else if h.Server != server {
		h.Server = netip.AddrPort{}
	}
	h.add(&h.Denials, fmt.Appendf(nil, "; %s %s: %s\n", name, dns.TypeToString[qtype], rcodeName(reply.Rcode)))
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			soa = dns.Copy(soa).(*dns.SOA)
			if at := len(name) - len(soa.Hdr.Name); at >= 0 && strings.EqualFold(name[at:], soa.Hdr.Name) {
				soa.Hdr.Name = name[at:] // without the random case of the question
			}
			h.add(&h.Denials, append([]byte(soa.String()), '\n'))
			return // a zone has one
		}
	}
}

// note adds the records of a reply about a name. The random case of the question is removed.
func (h *Heard) note(reply *dns.Msg, name string, server netip.AddrPort) {
	if len(reply.Answer) == 0 {
		return // deny adds these
	}
	if len(h.Records) == 0 {
		h.Server = server
	} else if h.Server != server {
		h.Server = netip.AddrPort{}
	}
	for _, rr := range reply.Answer {
		if h.Omitted > 0 {
			h.Omitted++
			continue
		}
		if strings.EqualFold(rr.Header().Name, name) {
			rr = dns.Copy(rr)
			rr.Header().Name = name
		}
		h.add(&h.Records, append(textOf(rr), '\n'))
	}
}

// textOf is the line of a record in a master file. The library gives a record of type NULL its bytes as they are, and
// OPT and TSIG several lines. These have the form of unknown types (RFC 3597, section 5).
func textOf(rr dns.RR) []byte {
	text := rr.String()
	isForeign := func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }
	if !strings.ContainsFunc(text, isForeign) {
		return []byte(text)
	}
	unknown := new(dns.RFC3597)
	if err := unknown.ToRFC3597(rr); err != nil {
		return fmt.Appendf(nil, "; a record of type %d that has no text: %v", rr.Header().Rrtype, err)
	}
	return []byte(unknown.String())
}

// join adds the text of a question that ran at the same time, without lines that h already has.
func (h *Heard) join(other *Heard) {
	if len(h.Records)+len(h.Denials) == 0 {
		h.Server = other.Server
	} else if len(other.Records)+len(other.Denials) > 0 && h.Server != other.Server {
		h.Server = netip.AddrPort{}
	}
	h.addLines(&h.Records, other.Records)
	h.addLines(&h.Denials, other.Denials)
	h.Omitted += other.Omitted
}

// addLines adds the lines of more that own, a field of h, does not have.
func (h *Heard) addLines(own *[]byte, more []byte) {
	known := make(map[string]struct{})
	for line := range bytes.Lines(*own) {
		known[string(line)] = struct{}{}
	}
	for line := range bytes.Lines(more) {
		if _, both := known[string(line)]; !both {
			h.add(own, line)
		}
	}
}
