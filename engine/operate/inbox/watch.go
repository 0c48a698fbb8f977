package inbox

import (
	"context"
	"fmt"

	"github.com/fsnotify/fsnotify"
)

// DiskWatcher watches directories of the disk of this machine.
type DiskWatcher struct{}

// Watch implements Watcher.
func (DiskWatcher) Watch(ctx context.Context, dir string, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	defer func() { _ = w.Close() }() // it only watched
	if err := w.Add(dir); err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	changed() // what came before the watch began
	for {
		select {
		case <-w.Events:
			changed()
		case err := <-w.Errors:
			if err == nil {
				return nil
			}
			changed() // events were lost
		case <-ctx.Done():
			return nil
		}
	}
}
