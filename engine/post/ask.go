package post

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/mem"
)

// ask is Ask.
func (l *link) ask(ctx context.Context, kind byte, text []byte) ([]byte, error) {
	s, err := l.session(ctx)
	if err != nil {
		return nil, err
	}
	if len(text) > s.BatchMax {
		return nil, fmt.Errorf("%w: a question of %d bytes, and it takes at most %d", ErrRefused, len(text), s.BatchMax)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(s.ctx, func() { end(context.Cause(s.ctx)) })
	defer stop()
	o := l.office
	packed, body := o.packer.pack(text)
	q := question{Version: s.Version, Kind: kind, Crawl: o.opt.Crawl, From: o.opt.Self, To: l.peer.ID, load: packed}
	l.tally.do(func(p *PeerStats) { p.Out.Questions++ })
	var in incoming
	defer in.free()
	if err := l.conn.Invoke(ctx, askMethod, &outgoing{head: q.append(make([]byte, 0, headMax)), body: body}, &in); err != nil {
		if refused := refusedBy(err); refused != nil {
			return nil, refused
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnknown, cause)
		}
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	a, err := parseAnswer(in.frame.ReadOnlyData(), o.opt.BatchMax)
	if err == nil && a.Kind != resultKept {
		return nil, a.err()
	}
	if err == nil {
		var b *[]byte
		if b, err = o.packer.unpack(a.load); err == nil {
			return *b, nil // the caller's now
		}
	}
	o.refused(RefusedMalformed, l.peer.ID, nil, err)
	return nil, fmt.Errorf("%w: %w", ErrFailed, err)
}

// ask is the handler of a question.
func (o *Office) ask(ctx context.Context, read func(any) error) (*outgoing, error) {
	h, addr := holderOf(ctx)
	var in incoming
	defer in.free()
	q, err := question{}, frameFault(read(&in))
	if err == nil {
		q, err = o.understand(h, &in)
	}
	var text *[]byte
	if err == nil {
		if err = o.memory.Acquire(ctx, int64(q.Size)); err != nil {
			return nil, statusOf(err)
		}
		defer o.memory.Release(int64(q.Size))
		text, err = o.packer.unpack(q.load)
	}
	if err != nil {
		if why := refusalOf(err); why != RefusedSilent {
			o.refused(why, h.id, addr, err)
		}
		if broken(err) {
			o.expel(h, q.From, err)
		}
		return nil, statusOf(err)
	}
	defer o.pool.Put(text)
	if tally := o.counters.tally(q.From, o.opt.PeersMax); tally != nil {
		tally.do(func(p *PeerStats) { p.In.Questions++ })
	}
	return o.answer(ctx, &q, *text), nil
}

// understand reads a question as far as it can be judged without its text.
func (o *Office) understand(h *holder, in *incoming) (q question, err error) {
	if q, err = parseQuestion(in.frame.ReadOnlyData(), o.opt.BatchMax); err != nil {
		return q, err
	}
	if q.Version < o.opt.versions.from || q.Version > o.opt.versions.to {
		return q, fmt.Errorf("%w: it asks in version %d, this agent speaks %v", ErrVersion, q.Version, o.opt.versions)
	}
	return q, o.acquainted(h, q.Crawl, q.From, q.To)
}

// answer asks whoever knows.
func (o *Office) answer(ctx context.Context, q *question, text []byte) *outgoing {
	var told []byte
	err := fmt.Errorf("%w: this agent answers no questions", ErrRefused)
	if o.opt.Answer != nil {
		told, err = o.opt.Answer(ctx, q.From, q.Kind, text)
	}
	if err == nil && len(told) > o.opt.BatchMax {
		err = fmt.Errorf("an answer of %d bytes: want at most %d", len(told), o.opt.BatchMax)
	}
	a := answer{result: resultOf(err)}
	var body mem.Buffer
	if err == nil {
		a.load, body = o.packer.pack(told)
	}
	return &outgoing{head: a.append(nil), body: body}
}

// broken reports whether an error is a breach of the protocol.
func broken(err error) bool { return errors.Is(err, errMalformed) || errors.Is(err, errTooLong) }
