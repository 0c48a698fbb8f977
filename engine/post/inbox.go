package post

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// inbox holds the streams on which letters come: one of each agent. A new one ends the one before it, which may be of a
// connection that is dead and does not know it.
type inbox struct {
	mu sync.Mutex
	of map[string]*delivery
}

// enter takes the place of an agent, when whoever had it is gone.
func (b *inbox) enter(d *delivery) error {
	for {
		b.mu.Lock()
		before := b.of[d.from]
		if before == nil {
			b.of[d.from] = d
			b.mu.Unlock()
			return nil
		}
		b.mu.Unlock()
		before.end(fmt.Errorf("%w: %s has a newer connection", ErrClosed, d.from))
		select {
		case <-before.gone:
		case <-d.ctx.Done():
			return context.Cause(d.ctx)
		}
	}
}

func (b *inbox) leave(d *delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, d.from)
	close(d.gone)
}

// end ends the stream of an agent, if there is one.
func (b *inbox) end(id string, why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.of[id]; d != nil {
		d.end(why)
	}
}

// delivery is a stream on which an agent's letters come. Its goroutines: the handler, which reads; one for each letter that is being
// received; one that writes results and beats. The handler waits for the others.
type delivery struct {
	office  *Office
	from    string
	holder  *holder
	tally   *tally
	stream  grpc.ServerStream
	slots   chan struct{} // one for each letter from before it is read until its result is on its way
	results chan result
	gone    chan struct{}

	ctx context.Context //nolint:containedctx // the life of the stream
	end context.CancelCauseFunc
}

// letters is the handler of a stream.
func (o *Office) letters(stream grpc.ServerStream) error {
	h, addr := holderOf(stream.Context())
	said, err := o.hear(stream, h)
	if err != nil {
		if why := refusalOf(err); why != RefusedSilent {
			h.settled.Store(true)
			o.refused(why, orElse(h.id, said.From), addr, err)
		}
		if broken(err) {
			o.expel(h, said.From, err)
		}
		return statusOf(err)
	}
	tally := o.counters.tally(said.From, o.opt.PeersMax)
	if tally == nil {
		err := fmt.Errorf("%w: there are %d other agents already", ErrRefused, o.opt.PeersMax)
		o.refused(RefusedCrowd, said.From, addr, err)
		return statusOf(err)
	}
	d := &delivery{
		office: o, from: said.From, holder: h, tally: tally, stream: stream, gone: make(chan struct{}),
		slots: make(chan struct{}, o.opt.Window), results: make(chan result, o.opt.Window),
	}
	d.ctx, d.end = context.WithCancelCause(stream.Context())
	stop := context.AfterFunc(o.ctx, func() { d.end(ErrClosed) })
	defer stop()
	if err := o.inbox.enter(d); err != nil {
		d.end(nil)
		return statusOf(err)
	}
	defer o.inbox.leave(d)
	version, _ := o.opt.versions.common(said.Versions) // hear has asked
	w := welcome{Versions: o.opt.versions, Version: version, Window: o.opt.Window, BatchMax: o.opt.BatchMax}
	if err := stream.SendMsg(&outgoing{head: w.append(nil)}); err != nil {
		d.end(nil)
		return err
	}
	tally.do(func(p *PeerStats) { p.Heard = time.Now() })
	defer tally.do(func(p *PeerStats) { p.Heard = time.Time{} })
	return d.run(addr)
}

func holderOf(ctx context.Context) (*holder, net.Addr) {
	p, _ := peer.FromContext(ctx)
	return p.AuthInfo.(*holder), p.Addr
}

// errTooLong is a frame above the limit.
var errTooLong = errors.New("a frame that is too long")

// hear reads the hello, within a time. A hello that is not taken is an error.
func (o *Office) hear(stream grpc.ServerStream, h *holder) (said hello, err error) {
	late := time.AfterFunc(helloPatience, func() { _ = h.conn.Close() }) // nothing else ends a read
	defer late.Stop()
	var in incoming
	defer in.free()
	if err := stream.RecvMsg(&in); err != nil {
		return said, frameFault(err)
	}
	if said, err = parseHello(in.frame.ReadOnlyData()); err != nil {
		return said, err
	}
	if err := o.acquainted(h, said.Crawl, said.From, said.To); err != nil {
		return said, err
	}
	if _, err = said.Versions.common(o.opt.versions); err != nil {
		return said, err
	}
	h.settled.Store(true)
	return said, nil
}

// acquainted checks who somebody says to be, and whom it means, against what is known of it.
func (o *Office) acquainted(h *holder, crawl, from, to string) error {
	switch {
	case crawl != o.opt.Crawl:
		return fmt.Errorf("%w: this is crawl %s, not %s", ErrIdentity, o.opt.Crawl, crawl)
	case to != o.opt.Self:
		return fmt.Errorf("%w: this is agent %s, not %s", ErrIdentity, o.opt.Self, to)
	case !o.opt.Plain && from != h.id:
		return fmt.Errorf("%w: it says to be %s, and has the certificate of %s", ErrIdentity, from, h.id)
	case from == o.opt.Self || from == "":
		return fmt.Errorf("%w: it bears the name of this agent, %s: a name is for one agent", ErrIdentity, from)
	}
	return o.bans.check(from)
}

// frameFault tells a frame above the limit from a connection that broke.
func frameFault(err error) error {
	if status.Code(err) == codes.ResourceExhausted {
		return fmt.Errorf("%w: %s", errTooLong, status.Convert(err).Message())
	}
	return err
}

func refusalOf(err error) Refusal {
	switch {
	case errors.Is(err, ErrVersion):
		return RefusedVersion
	case errors.Is(err, ErrIdentity):
		return RefusedIdentity
	case errors.Is(err, ErrBanned):
		return RefusedBanned
	case errors.Is(err, errTooLong):
		return RefusedTooLong
	case errors.Is(err, errMalformed):
		return RefusedMalformed
	}
	return RefusedSilent
}

// expel ends a connection whose other end breaks the protocol, and bans the agent.
func (o *Office) expel(h *holder, from string, err error) {
	if h.id != "" {
		from = h.id // in plain text there is only its word
	}
	if from != "" {
		o.bans.add(from, short(err), time.Now().Add(o.opt.BanTime))
	}
	h.settled.Store(true)
	_ = h.conn.Close() // what is written now may not arrive, and nobody cares
}

// run reads letters until the stream ends, and waits for those that are being received.
func (d *delivery) run(addr net.Addr) error {
	var work sync.WaitGroup
	work.Add(1)
	go func() {
		defer work.Done()
		d.write()
	}()
	// A read ends when the handler returns, or the connection does: so that the end of ctx ends it, reading has a goroutine of its own.
	read := make(chan error, 1)
	go func() { read <- d.read(&work) }()
	var err error
	select {
	case err = <-read:
	case <-d.ctx.Done():
		err = context.Cause(d.ctx)
		if d.stream.Context().Err() == nil { // it is we who end it
			_ = d.holder.conn.Close()
		}
		if last := <-read; broken(last) {
			err = last
		}
	}
	d.end(err)
	work.Wait()
	d.tally.do(func(p *PeerStats) {
		for p.In.UnderWay > 0 {
			p.In.end(nil)
		}
	})
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	if broken(err) {
		d.office.refused(refusalOf(err), d.from, addr, err)
		d.tally.failed(err)
		d.office.expel(d.holder, d.from, err)
	}
	return statusOf(err)
}

// read reads letters and has them received.
func (d *delivery) read(work *sync.WaitGroup) error {
	o := d.office
	var in incoming
	defer in.free()
	for number := uint64(1); ; number++ {
		select {
		case d.slots <- struct{}{}:
		case <-d.ctx.Done():
			return context.Cause(d.ctx)
		}
		if err := d.stream.RecvMsg(&in); err != nil {
			return frameFault(err)
		}
		frame := in.frame.ReadOnlyData()
		l, err := parseLetter(frame, o.opt.BatchMax)
		if err != nil {
			return err
		}
		if l.Number != number {
			return fmt.Errorf("%w: letter %d came as number %d", errMalformed, l.Number, number)
		}
		if err := o.memory.Acquire(d.ctx, int64(l.Size)); err != nil {
			return context.Cause(d.ctx)
		}
		batch, err := o.packer.unpack(l.load)
		if err != nil {
			o.memory.Release(int64(l.Size))
			return err
		}
		d.tally.do(func(p *PeerStats) {
			p.In.Letters++
			p.In.UnderWay++
			p.In.Bytes += int64(l.Size)
			p.In.Packed += int64(len(l.Body))
		})
		in.free()
		work.Add(1)
		go func() {
			defer work.Done()
			d.receive(number, batch)
		}()
	}
}

// receive has one letter received and hands its result on.
func (d *delivery) receive(number uint64, batch *[]byte) {
	size := int64(len(*batch))
	r := resultOf(d.office.opt.Receive(d.ctx, d.from, *batch))
	d.office.pool.Put(batch)
	d.office.memory.Release(size)
	r.Number = number
	d.results <- r // there is room: it has a slot
}

// write sends results and beats until the stream ends.
func (d *delivery) write() {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	var some []result
	var head []byte
	for {
		some = some[:0]
		select {
		case <-d.ctx.Done():
			return
		case <-beat.C:
			head = []byte{kindBeat}
		case r := <-d.results:
			some = append(some, r)
			for more := true; more; {
				select {
				case r := <-d.results:
					some = append(some, r)
				default:
					more = false
				}
			}
			head = appendResults(nil, some)
		}
		if d.stream.SendMsg(&outgoing{head: head}) != nil {
			return // reading tells why
		}
		d.tally.do(func(p *PeerStats) {
			for _, r := range some {
				p.In.end(&r)
			}
		})
		for range some {
			<-d.slots
		}
	}
}
