package dnsres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

// outcome is the result of the questions about a name: addresses or an error, and how long the servers say it is valid.
type outcome struct {
	addrs  []netip.Addr
	ttl    time.Duration
	err    error
	noName bool // the name does not exist, so it has no records of another type either
}

// fault reports whether the servers failed, not the name.
func (o outcome) fault() bool { return o.err != nil && !errors.Is(o.err, ErrNotFound) }

// sixGrace is how long a name that has an answer for A waits for the one for AAAA. Some name servers drop these
// questions.
const sixGrace = time.Second

// ask resolves the addresses of all wanted families. If h is not nil, it gets the text of the replies.
func (r *Resolver) ask(ctx context.Context, name string, h *Heard) outcome {
	if !r.o.IPv6 {
		return r.chase(ctx, name, dns.TypeA, h)
	}
	var also *Heard
	if h != nil {
		also = new(Heard)
	}
	var four, six outcome
	if use, _ := r.six.use(r.tick(time.Now())); use {
		var inTime bool
		if four, six, inTime = r.askBoth(ctx, name, h, also); !inTime {
			six = outcome{err: ErrTimeout}
		}
	} else {
		if four = r.chase(ctx, name, dns.TypeA, h); four.err == nil || four.noName {
			return four
		}
		six = r.chase(ctx, name, dns.TypeAAAA, also)
	}
	if h != nil {
		h.join(also)
	}
	return r.merge(four, six)
}

// askBoth asks for both families at the same time. As soon as A has an answer, AAAA has sixGrace; inTime is false if
// that was not enough.
func (r *Resolver) askBoth(ctx context.Context, name string, h, also *Heard) (four, six outcome, inTime bool) {
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		six = r.chase(cancellable, name, dns.TypeAAAA, also)
	}()
	four = r.chase(ctx, name, dns.TypeA, h)
	var late <-chan time.Time
	if four.err == nil || four.noName {
		timer := time.NewTimer(sixGrace)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-done:
		if ctx.Err() == nil && !six.fault() {
			r.six.worked()
		}
		return four, six, true
	case <-late:
		cancel()
		<-done
		r.six.failures.Add(1)
		r.six.workedWithout(r.tick(time.Now()))
		return four, six, false
	}
}

// merge returns the addresses of both families.
func (r *Resolver) merge(four, six outcome) outcome {
	switch {
	case four.noName:
		return four
	case four.err != nil && six.err != nil:
		if four.fault() {
			return four
		}
		if six.fault() {
			return six
		}
		return outcome{err: four.err, ttl: min(four.ttl, six.ttl)}
	case four.err != nil:
		return r.half(six, four)
	case six.err != nil:
		return r.half(four, six)
	}
	both := outcome{ttl: min(four.ttl, six.ttl), addrs: four.addrs}
	for _, a := range six.addrs {
		// A dual-stack name keeps at least one address of each family within the bound.
		if !slices.Contains(both.addrs, a) {
			both.addrs = append(both.addrs, a)
		}
	}
	if over := len(both.addrs) - r.o.AddrsMax; over > 0 {
		keep := max(len(four.addrs)-over, 1)
		both.addrs = append(slices.Clip(four.addrs[:keep]), both.addrs[len(four.addrs):]...)
		both.addrs = both.addrs[:r.o.AddrsMax]
	}
	return both
}

// half is the outcome when only one family has addresses. If the other failed, the outcome is valid for a short time
// only.
func (r *Resolver) half(good, bad outcome) outcome {
	if bad.fault() {
		good.ttl = min(good.ttl, r.o.FaultMin)
	}
	return good
}

// chase asks for one type of record and follows aliases.
func (r *Resolver) chase(ctx context.Context, name string, qtype uint16, h *Heard) outcome {
	out := outcome{ttl: r.o.TTLMax}
	target := name + "."
	began := time.Now()
	for links := 0; ; {
		if links > 0 && time.Since(began) > r.o.Timeout*time.Duration(r.o.Tries) {
			// Without this bound, a chain of aliases with late replies would hold a lookup for many time-outs.
			return outcome{err: fmt.Errorf("%w: the aliases took longer than a name may", ErrTimeout)}
		}
		reply, server, err := r.query(ctx, target, qtype)
		if err != nil {
			if h != nil && reply != nil {
				h.deny(reply, target, qtype, server)
			}
			return outcome{err: err}
		}
		if h != nil {
			h.note(reply, target, server)
		}
		asked := target
		for {
			alias, ttl, found := aliasOf(reply.Answer, target)
			if !found {
				break
			}
			if links++; links > r.o.CNAMEMax {
				return outcome{err: fmt.Errorf("%w: more than %d aliases", ErrServer, r.o.CNAMEMax)}
			}
			out.ttl = min(out.ttl, ttl)
			if _, err := cleanName(alias); err != nil {
				return outcome{err: fmt.Errorf("%w: alias: %w", ErrNotFound, err), ttl: out.ttl}
			}
			target = alias
		}
		r.collect(&out, reply.Answer, target, qtype)
		if len(out.addrs) > 0 {
			return out
		}
		negative, authoritative := r.negativeTTL(reply)
		if reply.Rcode == dns.RcodeNameError || target == asked || authoritative {
			if h != nil {
				h.deny(reply, target, qtype, server)
			}
			noName := reply.Rcode == dns.RcodeNameError
			return outcome{err: ErrNotFound, ttl: min(out.ttl, negative), noName: noName}
		}
		// The server returned only an alias: ask for its target.
	}
}

// aliasOf finds the CNAME of a name.
func aliasOf(records []dns.RR, name string) (alias string, ttl time.Duration, found bool) {
	for _, rr := range records {
		if c, ok := rr.(*dns.CNAME); ok && strings.EqualFold(c.Hdr.Name, name) {
			return c.Target, lifetime(c.Hdr.Ttl), true
		}
	}
	return "", 0, false
}

// collect adds the addresses of a name, without repetitions, up to AddrsMax.
func (r *Resolver) collect(out *outcome, records []dns.RR, name string, qtype uint16) {
	for _, rr := range records {
		h := rr.Header()
		if h.Rrtype != qtype || h.Class != dns.ClassINET || !strings.EqualFold(h.Name, name) {
			continue
		}
		var addr netip.Addr
		switch rec := rr.(type) {
		case *dns.A:
			addr, _ = netip.AddrFromSlice(rec.A)
		case *dns.AAAA:
			addr, _ = netip.AddrFromSlice(rec.AAAA)
		}
		addr = addr.Unmap()
		if !addr.IsValid() || slices.Contains(out.addrs, addr) || len(out.addrs) >= r.o.AddrsMax {
			continue
		}
		out.addrs = append(out.addrs, addr)
		out.ttl = min(out.ttl, lifetime(h.Ttl))
	}
}

// lifetime reads a TTL. One with the top bit set means zero (RFC 2181).
func lifetime(ttl uint32) time.Duration {
	if ttl >= 1<<31 {
		return 0
	}
	return time.Duration(ttl) * time.Second
}

// negativeTTL returns how long a negative reply is valid, from its SOA record if it has one.
func (r *Resolver) negativeTTL(reply *dns.Msg) (ttl time.Duration, authoritative bool) {
	for _, rr := range reply.Ns {
		if soa, ok := rr.(*dns.SOA); ok {
			return min(lifetime(soa.Hdr.Ttl), lifetime(soa.Minttl)), true
		}
	}
	return r.o.NegativeTTL, false
}

// query asks one question until a server gives a usable reply: a success or "no such name". With an error it may return
// the last reply of another status.
func (r *Resolver) query(ctx context.Context, name string, qtype uint16) (*dns.Msg, netip.AddrPort, error) {
	last := ErrTimeout
	var failed *dns.Msg // the reply that caused the last error
	var from netip.AddrPort
	var known attempts
	refused := 0
	ups := r.order(time.Now())
	for try := 0; try < r.o.Tries; {
		up := ups[try%len(ups)]
		f := known.form(up, r.tick(time.Now()))
		reply, err := r.exchange(ctx, up, question(name, qtype, f), f)
		switch {
		case ctx.Err() != nil:
			return nil, up.addr, contextError(ctx)
		case errors.Is(err, ErrLocal):
			return nil, up.addr, err
		case errors.Is(err, errCase):
			last, failed = err, nil
			if known.caseFailed(up); known.noMixed {
				continue
			}
		case errors.Is(err, ErrTimeout):
			last, failed = err, nil
			known.timedOut(up, f)
		case err != nil:
			last, failed = err, nil
		case reply.Rcode == dns.RcodeSuccess, reply.Rcode == dns.RcodeNameError:
			known.replied(up, f, r.tick(time.Now()))
			r.endFailures()
			return reply, up.addr, nil
		default:
			last, failed, from = fmt.Errorf("%w: %s", ErrServer, rcodeName(reply.Rcode)), reply, up.addr
			if known.refused(up, f, reply) {
				continue
			}
			r.failures.add(r.tick(time.Now()))
			refused++
		}
		// Each server is asked once. A server that has answered is not asked the same again.
		if refused >= len(ups) {
			break
		}
		try++
	}
	r.askControl(ctx)
	return failed, from, last
}

func rcodeName(rcode int) string {
	if name, ok := dns.RcodeToString[rcode]; ok {
		return name
	}
	return fmt.Sprintf("RCODE%d", rcode)
}

// question returns a message with a random id. In random case, a forger must guess the case of the name too.
func question(name string, qtype uint16, f form) *dns.Msg {
	mixed := []byte(strings.ToLower(name))
	var bits uint64
	for i, c := range mixed {
		if !f.mixed {
			break
		}
		if i%64 == 0 {
			bits = rand.Uint64()
		}
		if 'a' <= c|0x20 && c|0x20 <= 'z' {
			mixed[i] = c&^0x20 | byte(bits&1)<<5
		}
		bits >>= 1
	}
	q := new(dns.Msg)
	q.Id = uint16(rand.Uint32())
	q.RecursionDesired = true
	q.Question = []dns.Question{{Name: string(mixed), Qtype: qtype, Qclass: dns.ClassINET}}
	if f.edns {
		q.SetEdns0(udpSize, false)
	}
	return q
}

// udpSize is the advertised size of replies over UDP, which passes all networks without fragments.
const udpSize = 1232

// errCase is the error if a server did not repeat the case of a name over UDP and did not reply over TCP.
var errCase = fmt.Errorf("%w: the reply does not repeat the case of the name", ErrServer)

// exchange sends a question over UDP, and over TCP if the reply was truncated or did not repeat the case of the name.
func (r *Resolver) exchange(ctx context.Context, up *upstream, q *dns.Msg, f form) (*dns.Msg, error) {
	reply, err := r.exchangeOnce(ctx, up, q, false)
	if err != nil {
		return nil, err
	}
	matched := match(reply, q)
	switch {
	case matched == matchesError:
		return reply, nil
	case matched == matches, matched == matchesButCase && !f.mixed:
		if !reply.Truncated {
			return reply, nil
		}
		matched = matches
	case matched == matchesButCase:
		r.n.mismatches.Add(1)
	default:
		r.n.mismatches.Add(1)
		r.failures.add(r.tick(time.Now()))
		return nil, fmt.Errorf("%w: reply to another question", ErrServer)
	}
	if reply, err = r.exchangeOnce(ctx, up, q, true); err != nil {
		if matched == matchesButCase && !errors.Is(err, ErrLocal) {
			err = fmt.Errorf("%w: %w", errCase, err)
		}
		return nil, err
	}
	if match(reply, q) == matchesNot {
		r.n.mismatches.Add(1)
		r.failures.add(r.tick(time.Now()))
		return nil, fmt.Errorf("%w: reply to another question", ErrServer)
	}
	return reply, nil
}

func (r *Resolver) exchangeOnce(ctx context.Context, up *upstream, q *dns.Msg, tcp bool) (*dns.Msg, error) {
	r.n.exchanges.Add(1)
	network := r.udp
	if tcp {
		r.n.tcp.Add(1)
		network = r.tcp
	}
	reply, err := network.exchange(ctx, q, up, time.Now().Add(r.o.Timeout))
	if err == nil && reply == nil {
		err = ErrServer
	}
	if err == nil {
		up.replied()
		return reply, nil
	}
	if ctx.Err() != nil {
		return nil, contextError(ctx) // of our context, not of the server
	}
	if scarce(err) {
		return nil, fmt.Errorf("%w: %w", ErrLocal, err)
	}
	up.failed(r.tick(time.Now()))
	r.failures.add(r.tick(time.Now()))
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		r.n.timeouts.Add(1)
		return nil, fmt.Errorf("%w: %v", ErrTimeout, up.addr)
	}
	return nil, fmt.Errorf("%w: %w", ErrServer, err)
}

// scarce reports whether an error is a resource shortage of this machine.
func scarce(err error) bool {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return false
	}
	switch errno {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL:
		return true
	default:
		return false
	}
}
