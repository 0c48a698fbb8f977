package post

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
)

// liar is a receiver that speaks the protocol badly.
type liar struct {
	letter func(stream grpc.ServerStream) error
	answer []byte
}

func (l *liar) letters(stream grpc.ServerStream) error {
	var in incoming
	defer in.free()
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	return l.letter(stream)
}

func (l *liar) ask(_ context.Context, read func(any) error) (*outgoing, error) {
	var in incoming
	defer in.free()
	return &outgoing{head: l.answer}, read(&in)
}

// A receiver that answers nonsense makes Send and Ask fail, once with what is not known and then at once, and harms nobody.
func TestG05_aReceiverThatAnswersNonsense(t *testing.T) {
	w := welcome{Versions: versions{1, 1}, Version: 1, Window: 4, BatchMax: 1 << 20}
	hi := &outgoing{head: w.append(nil)}
	answering := func(frames ...[]byte) func(grpc.ServerStream) error {
		return func(s grpc.ServerStream) error {
			_ = s.SendMsg(hi)
			var in incoming
			defer in.free()
			_ = s.RecvMsg(&in)
			for _, f := range frames {
				_ = s.SendMsg(&outgoing{head: f})
			}
			<-s.Context().Done()
			return nil
		}
	}
	w.Version = 9
	wrong := &outgoing{head: w.append(nil)}
	bomb := answer{load: load{Form: formZstd, Size: 1 << 20}}
	for name, c := range map[string]struct {
		liar liar
		want error
	}{
		"an acknowledgement of nothing": {liar{letter: answering(appendResults(nil, []result{{Number: 7}}))}, ErrUnknown},
		"one twice":                     {liar{letter: answering(appendResults(nil, []result{{Number: 1}, {Number: 1}}))}, nil},
		"noise":                         {liar{letter: answering([]byte("noise"))}, ErrUnknown},
		"a long beat":                   {liar{letter: answering([]byte("BB"))}, ErrUnknown},
		"nothing at all":                {liar{letter: answering()}, ErrUnknown},
		"a version of its own":          {liar{letter: func(s grpc.ServerStream) error { return s.SendMsg(wrong) }}, ErrVersion},
		"no welcome":                    {liar{letter: func(s grpc.ServerStream) error { return s.SendMsg(&outgoing{head: []byte("noise")}) }}, ErrVersion},
		"silence":                       {liar{letter: func(s grpc.ServerStream) error { <-s.Context().Done(); return nil }}, ErrUnreachable},
		"a bad answer":                  {liar{letter: answering(appendResults(nil, []result{{Number: 1}})), answer: append(bomb.append(nil), "noise"...)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage(t, false)
				a, _ := v.agent("a", Options{})
				other, _ := v.agent("b", Options{}) // whose server's settings and credentials the liar borrows
				server := other.newServer(&security{other, nil})
				server.RegisterService(service(), &c.liar)
				at := Peer{"liar", other.Addr()}
				at.Addr = addrAfter(at.Addr)
				l, err := v.Listen(t.Context(), at.Addr)
				if err != nil {
					t.Fatal(err)
				}
				go func() { _ = server.Serve(guests{l}) }()
				defer server.Stop()
				began := time.Now()
				err = a.Send(t.Context(), at, []byte("letter"))
				either := name == "one twice" && errors.Is(err, ErrUnknown) // the second may be seen before the first is told on
				if !errors.Is(err, c.want) && !either || time.Since(began) > 12*time.Second {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if c.liar.answer != nil {
					if _, err := a.Ask(t.Context(), at, 1, nil); !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "does not unpack") {
						t.Error(err)
					}
				}
				synctest.Wait()
				if s := a.Stats().Peers[0].Out; s.UnderWay != 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}
