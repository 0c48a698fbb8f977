package crawl

import (
	"context"
	"log/slog"

	"orbweaver/engine"
	"orbweaver/engine/operate/inbox"
)

// runInbox adds the URLs of files that are put into the inbox, until the returned function is called.
func runInbox(ctx context.Context, files *inbox.Inbox, e *engine.Engine, log *slog.Logger) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := files.Run(ctx, e.Operator().AddURLs); err != nil {
			log.Warn("the inbox is not watched any more: use 'ctl add'", "error", err)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
