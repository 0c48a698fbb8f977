package lease

import (
	"fmt"
	"testing"
	"time"
)

const gap = 500 * time.Millisecond

// desk is a Keeper that is asked for one address.
type desk struct {
	Keeper
	now time.Time
}

func (d *desk) ask(who string, k Kind, f time.Duration) Answer {
	return d.Ask(who, Wish{k, Addr{1}, f}, time.Time{}, d.now)
}

// An agent that is alone with an address has it for long, and again as soon as it asks.
func TestWhoIsAloneWithAnAddressHasItForLong(t *testing.T) {
	d := desk{now: time.Unix(1e9, 0)}
	for range 3 {
		if a := d.ask("a", Want, gap); a != (Answer{Granted: true, For: LongTerm}) {
			t.Fatalf("%+v", a)
		}
		if n := d.Held(d.now); n != 1 {
			t.Errorf("%d are leased", n)
		}
		d.now = d.now.Add(LongTerm)
	}
	if n := d.Held(d.now); n != 0 {
		t.Errorf("%d are leased at the end", n)
	}
}

// Agents that want the same address have it in turns, in slots of eight delays; whoever comes when it was told to has it.
func TestWhoWaitsHasItsTurn(t *testing.T) {
	d := desk{now: time.Unix(1e9, 0)}
	d.ask("a", Want, gap)
	turns := map[string]time.Time{}
	for _, who := range []string{"b", "c", "d"} {
		a := d.ask(who, Want, gap)
		if a.Granted {
			t.Fatalf("%s has what a has", who)
		}
		turns[who] = d.now.Add(a.For)
	}
	turns["a"] = d.now.Add(LongTerm)
	had := map[string]int{}
	for order := ""; len(order) < 12; {
		next := ""
		for who, at := range turns {
			if next == "" || at.Before(turns[next]) || at.Equal(turns[next]) && who < next {
				next = who
			}
		}
		d.now = turns[next]
		a := d.ask(next, Want, gap)
		turns[next] = d.now.Add(max(a.For, time.Millisecond))
		if a.Granted {
			if !a.Shared || a.For-a.From != slotGaps*gap {
				t.Errorf("%s has it for %v, while three wait: %+v", next, a.For-a.From, a)
			}
			turns[next] = d.now.Add(a.For)
			had[next]++
			order += next
		}
	}
	for who, n := range had {
		if n != 3 || len(had) != 4 {
			t.Errorf("of twelve turns %s had %d: %v", who, n, had)
		}
	}
}

// Whoever does not come when it was told to loses its turn, and holds up nobody for long.
func TestWhoDoesNotComeLosesItsTurn(t *testing.T) {
	d := desk{now: time.Unix(1e9, 0)}
	d.ask("a", Want, gap)
	d.ask("b", Want, gap)
	d.now = d.now.Add(LongTerm + gap)
	if a := d.ask("c", Want, gap); a.Granted {
		t.Error("c came before b, which waited")
	}
	d.now = d.now.Add(patience + time.Millisecond)
	if a := d.ask("c", Want, gap); !a.Granted {
		t.Errorf("c is still to wait for b: %+v", a)
	}
}

// An address is shared for as long as two want it, and a while longer; what is given back early begins for the next after the delay.
func TestAnAddressIsSharedWhileSeveralWantIt(t *testing.T) {
	d := desk{now: time.Unix(1e9, 0)}
	d.ask("a", Want, gap)
	d.ask("b", Want, gap)
	d.now = d.now.Add(LongTerm + gap)
	if a := d.ask("b", Want, gap); !a.Granted || !a.Shared || a.From != 0 {
		t.Errorf("%+v", a)
	}
	d.now = d.now.Add(200 * time.Millisecond)
	d.ask("b", Free, gap)
	if a := d.ask("a", Want, gap); !a.Granted || !a.Shared || a.From != gap {
		t.Errorf("%+v", a)
	}
	d.now = d.now.Add(contestedFor)
	if a := d.ask("a", Want, gap); !a.Granted || a.Shared || a.For != LongTerm {
		t.Errorf("after a minute alone: %+v", a)
	}
}

// An exchange that goes on is prolonged though others wait; when it is over the next has its turn after what the holder asks for.
func TestAnExchangeThatGoesOnIsProlonged(t *testing.T) {
	d := desk{now: time.Unix(1e9, 0)}
	d.ask("a", Want, gap)
	d.ask("b", Want, gap)
	for range 4 {
		d.now = d.now.Add(LongTerm / 3)
		if a := d.ask("a", Hold, gap); !a.Granted || a.For < HoldTerm {
			t.Fatalf("%+v", a)
		}
		if a := d.ask("b", Want, gap); a.Granted {
			t.Fatal("b has what a holds")
		}
		if a := d.ask("b", Hold, gap); a.Granted {
			t.Fatal("b holds what it does not have")
		}
	}
	d.ask("b", Free, 0) // which it does not have
	d.ask("a", Free, 7*time.Second)
	if a := d.ask("b", Want, gap); a != (Answer{For: 6500 * time.Millisecond}) {
		t.Errorf("%+v", a)
	}
	d.now = d.now.Add(7 * time.Second)
	if a := d.ask("b", Want, gap); !a.Granted {
		t.Errorf("%+v", a)
	}
	d.now = d.now.Add(2 * holdMost)
	d.ask("b", Want, gap)
	d.now = d.now.Add(holdMost + time.Second)
	if a := d.ask("b", Hold, gap); a.Granted {
		t.Error("an exchange may take for ever")
	}
}

// Who has just become the keeper gives an address to nobody for a while, but prolongs what goes on.
func TestANewKeeperWaits(t *testing.T) {
	var k Keeper
	now := time.Unix(1e9, 0)
	from := now.Add(10 * time.Second)
	ask := func(who string, kind Kind) Answer { return k.Ask(who, Wish{kind, Addr{2}, gap}, from, now) }
	if a := ask("b", Want); a != (Answer{For: 10 * time.Second}) {
		t.Errorf("%+v", a)
	}
	if a := ask("a", Hold); !a.Granted {
		t.Errorf("%+v", a)
	}
	if a := ask("a", Want); a.Granted {
		t.Error("it has a lease of before, which nobody knows of")
	}
	now = from
	if a := ask("b", Want); !a.Granted {
		t.Errorf("%+v", a)
	}
}

// A book that is full gives nothing more away, and forgets what is over.
func TestTheBookForgets(t *testing.T) {
	var k Keeper
	now := time.Unix(1e9, 0)
	for i := range 1000 {
		k.Ask("a", Wish{Want, Addr{1, byte(i), byte(i >> 8)}, gap}, time.Time{}, now)
	}
	for range 3 {
		now = now.Add(age)
		k.Ask("a", Wish{Want, Addr{2}, gap}, time.Time{}, now)
	}
	if n := k.book.len(); n != 1 {
		t.Errorf("%d entries are left of a thousand that are over", n)
	}
}

func BenchmarkWant(b *testing.B) {
	var k Keeper
	now := time.Unix(1e9, 0)
	who := make([]string, 8)
	for i := range who {
		who[i] = fmt.Sprint("agent-", i)
	}
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(time.Millisecond)
		k.Ask(who[i%8], Wish{Want, Addr{byte(i), byte(i >> 8)}, gap}, time.Time{}, now)
	}
}

// One agent that wishes for more addresses than any asks does not fill the book: others get theirs, and it does again when its own are over.
func TestHostilePeer_oneAgentDoesNotFillTheBook(t *testing.T) {
	var k Keeper
	now := time.Unix(1e9, 0)
	wish := func(who string, i int) bool {
		return k.Ask(who, Wish{Want, Addr{1, byte(i), byte(i >> 8), byte(i >> 16)}, gap}, time.Time{}, now).Granted
	}
	granted := 0
	for i := range entriesMost + 1 {
		if wish("evil", i) {
			granted++
		}
	}
	if granted != entriesOfOne || !wish("b", entriesMost+2) {
		t.Errorf("it was granted %d addresses, want %d; or another agent gets none", granted, entriesOfOne)
	}
	for range 3 {
		now = now.Add(age)
		wish("b", entriesMost+2)
	}
	if !wish("evil", 1) || k.begun["evil"] != 1 {
		t.Errorf("when all are over it gets none, or %d are on its account", k.begun["evil"])
	}
}
