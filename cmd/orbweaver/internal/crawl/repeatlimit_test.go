package crawl

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// One message that comes a million times is told sixty times a minute, says so, and hides no other.
func TestHostile_S17_aFloodOfOneMessageIsTold60TimesAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		log := slog.New(newRepeatLimit(slog.NewTextHandler(&said, nil))).With("crawl", 1)
		const minutes = 5
		for i := range minutes {
			for j := range 20_000 {
				log.Warn("a stranger did it again", "url", j)
			}
			log.Info("something else", "minute", i)
			<-time.After(time.Minute)
		}
		floods, others := strings.Count(said.String(), "a stranger"), strings.Count(said.String(), "something else")
		if floods != minutes*perMinute || others != minutes ||
			strings.Count(said.String(), "not within this minute") != minutes {
			t.Errorf("%d lines of the flood, %d others", floods, others)
		}
	})
}
