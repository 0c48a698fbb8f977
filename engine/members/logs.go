package members

import (
	"context"
	"log/slog"
	"strings"
)

// words reads what memberlist writes to its log. Three things it tells nobody in another way: that it cannot read a message for want of the
// key, that a probe failed, and that it refutes a suspicion. The tests hold its sentences to this version.
func (g *Group) words() slog.Handler { return listener{g} }

// listener is memberlist's log: everything goes on to the log of the Group, for debugging.
type listener struct{ g *Group }

func (l listener) Enabled(context.Context, slog.Level) bool { return true }

func (l listener) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l listener) WithGroup(string) slog.Handler { return l }

// Handle takes one line, "[LEVEL] memberlist: ...".
func (l listener) Handle(ctx context.Context, r slog.Record) error {
	g := l.g
	if name, ok := between(r.Message, "memberlist: Suspect ", " has failed, no acks received"); ok {
		g.doubt(name)
	}
	if strings.Contains(r.Message, "memberlist: Refuting a ") {
		poke(g.refuting)
	}
	if isKeyFault(r.Message) {
		g.mu.Lock()
		g.stats.Key++
		first := g.stats.Key == 1
		g.mu.Unlock()
		if first {
			g.o.Log.Warn("refused a message that is not encrypted with this crawl's gossip key; if it comes from an agent of this crawl, "+
				"give that one a file that this crawl's `orbweaver ca` made; counted from now on", "said", r.Message)
		}
	}
	g.o.Log.DebugContext(ctx, r.Message)
	return nil
}

func between(s, before, after string) (string, bool) {
	_, s, ok := strings.Cut(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(strings.TrimSpace(s), after)
}

// isKeyFault says whether memberlist speaks of a message with another key, or with none where there should be one, or the other way round.
// Whether its sentences begin with a capital is not for ever.
func isKeyFault(s string) bool {
	s = strings.ToLower(s)
	for _, sentence := range []string{
		"no installed keys could decrypt",
		"encryption is configured but remote state is not encrypted",
		"remote state is encrypted and encryption is not configured",
		"decrypt packet failed",
	} {
		if strings.Contains(s, sentence) {
			return true
		}
	}
	return false
}
