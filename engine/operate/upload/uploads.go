package upload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/store/receipts"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// Parts are what Uploads work with. All must be set.
type Parts struct {
	FS  vfs.FS
	Dir string // of the crawl
	Log *slog.Logger
	To  []Outlet

	Then Then // what becomes of a file that all receivers have
}

// others are the receivers beside one.
func (p *Parts) others(than Receiver) (all []Receiver) {
	for _, to := range p.To {
		if to.Name() != than.Name() {
			all = append(all, to.Receiver)
		}
	}
	return all
}

// Outlet is a receiver, and how many files it gets at a time.
type Outlet struct {
	Receiver

	Parallel int
}

// Uploads give the closed WARC files of a crawl to all receivers. Make it with Start.
type Uploads struct {
	senders []*sender
	end     context.CancelFunc // the crawl has ended
	cancel  context.CancelFunc
	done    chan struct{}
}

// Start begins to send. Finish or Stop must be called.
func Start(ctx context.Context, p Parts) (*Uploads, error) {
	ended, end := context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	u := &Uploads{end: end, cancel: cancel, done: make(chan struct{})}
	for _, to := range p.To {
		s := &sender{
			fsys: p.FS, dir: p.Dir, to: to.Receiver, parallel: max(to.Parallel, 1), log: p.Log, ended: ended,
			wake: make(chan struct{}, 1),
		}
		s.removal = noRemoval{s}
		if store, ok := to.Receiver.(Confirmer); ok && p.Then == Delete {
			s.removal = newRemoval(s, store, p.others(store))
		}
		if err := s.open(); err != nil {
			end()
			cancel()
			return nil, err
		}
		u.senders = append(u.senders, s)
	}
	var all sync.WaitGroup
	for _, s := range u.senders {
		all.Go(func() { s.run(ctx) })
	}
	go func() {
		all.Wait()
		close(u.done)
	}()
	return u, nil
}

// Finish says that the crawl has ended: no more files come. It returns when all files are sent or refused, or when ctx
// ends, and says how many files are left.
func (u *Uploads) Finish(ctx context.Context) (left int64) {
	u.end()
	for _, s := range u.senders {
		s.look()
	}
	select {
	case <-u.done:
	case <-ctx.Done():
	}
	u.Stop()
	for _, s := range u.senders {
		n := s.numbers()
		left = max(left, n.waiting+n.damaged+n.rest)
	}
	return left
}

// Stop ends what is under way at once. What has no receipt is sent by the next run.
func (u *Uploads) Stop() {
	u.end()
	u.cancel()
	<-u.done
}

// Source is what a crawl asks of its Uploads.
type Source interface {
	// Stats returns nil if nothing is sent.
	Stats() *Stats
	// Removed returns the length of the WARC files of the crawl that were removed here, in this run or earlier.
	Removed() int64
	// Freeing returns the length of those that are removed when they are sent.
	Freeing() int64
	// Objects reads records of the removed files for a refresh.
	Objects() receipts.Objects
	// Ending says what the end of the crawl waits for; "" if it waits for nothing.
	Ending() string
}

// None is the Source of a crawl that sends nothing.
type None struct{}

// Stats implements Source.
func (None) Stats() *Stats { return nil }

// Removed implements Source.
func (None) Removed() int64 { return 0 }

// Freeing implements Source.
func (None) Freeing() int64 { return 0 }

// Ending implements Source.
func (None) Ending() string { return "" }

// Objects implements Source.
func (None) Objects() receipts.Objects { return receipts.NoObjects{} }

// Stats are the numbers of all receivers, by name.
type Stats struct {
	Waiting      map[string]int64   `json:"waiting_files" metric:"upload_waiting_files" label:"receiver" help:"Closed WARC files that a receiver does not have yet."`
	WaitingBytes map[string]int64   `json:"waiting_bytes" metric:"upload_waiting_bytes" label:"receiver" help:"Bytes of these files."`
	Files        map[string]int64   `json:"files" metric:"upload_files_total" label:"receiver" help:"WARC files that a receiver has got, in this run."`
	Bytes        map[string]int64   `json:"bytes" metric:"upload_bytes_total" label:"receiver" help:"Bytes of these files."`
	Failures     map[string]int64   `json:"failures" metric:"upload_failures_total" label:"receiver" help:"Tries to send a WARC file that failed, in this run."`
	Damaged      map[string]int64   `json:"damaged_files" metric:"upload_damaged_files" label:"receiver" help:"WARC files that are not sent, since they are not what their lines in the manifest say."`
	RemovedFiles map[string]int64   `json:"removed_files" metric:"upload_removed_files_total" label:"receiver" help:"WARC files that were removed in this run, since the receiver has them."`
	RemovedBytes map[string]int64   `json:"removed_bytes" metric:"upload_removed_bytes_total" label:"receiver" help:"Bytes of these files."`
	DownSeconds  map[string]float64 `json:"down_seconds" metric:"upload_down_seconds" label:"receiver" help:"Time since the first of the tries that all failed; 0 after a success."`
	Errors       map[string]string  `json:"errors,omitempty"`  // the last of each receiver that fails now
	Refused      map[string]string  `json:"refused,omitempty"` // why a receiver refuses files until the operator acts
}

// Stats returns the numbers as they are now. Safe for concurrent use.
func (u *Uploads) Stats() *Stats {
	now := time.Now()
	all := &Stats{
		Waiting: map[string]int64{}, WaitingBytes: map[string]int64{}, Files: map[string]int64{},
		Bytes: map[string]int64{}, Failures: map[string]int64{}, Damaged: map[string]int64{},
		RemovedFiles: map[string]int64{}, RemovedBytes: map[string]int64{}, DownSeconds: map[string]float64{},
	}
	for _, s := range u.senders {
		n, name := s.numbers(), s.to.Name()
		all.Waiting[name], all.WaitingBytes[name] = n.waiting, n.waitingBytes
		all.Files[name], all.Bytes[name], all.Failures[name] = n.sent, n.sentBytes, n.failed
		all.Damaged[name], all.RemovedFiles[name], all.RemovedBytes[name] = n.damaged, n.removed, n.removedBytes
		all.DownSeconds[name] = 0
		if !n.down.IsZero() {
			all.DownSeconds[name] = now.Sub(n.down).Seconds()
		}
		if n.lastError != "" {
			if all.Errors == nil {
				all.Errors = map[string]string{}
			}
			all.Errors[name] = n.lastError
		}
		if n.refused != "" {
			if all.Refused == nil {
				all.Refused = map[string]string{}
			}
			all.Refused[name] = n.refused
		}
	}
	return all
}

// Removed returns the length of the files that were removed in this run.
func (u *Uploads) Removed() (total int64) {
	for _, s := range u.senders {
		total += s.numbers().removedBytes
	}
	return total
}

// Freeing returns the length of the files that are removed when they are sent.
func (u *Uploads) Freeing() (total int64) {
	for _, s := range u.senders {
		n, err := s.removal.freeing()
		if err != nil {
			s.log.Warn("the archive cannot be searched for files to remove", "error", err)
		}
		total += n
	}
	return total
}

// Trouble is that of the files of a crawl; "" if it sends none.
func Trouble(of Source) string {
	if s := of.Stats(); s != nil {
		return s.Trouble()
	}
	return ""
}

// downShown is how long a receiver must have failed before the report says so, in seconds.
const downShown = 60

// Trouble says which receivers fail, and which files are damaged, for people; "" if all is well.
func (s *Stats) Trouble() string {
	var parts []string
	for _, name := range []string{Store, Command} {
		if reason := s.Refused[name]; reason != "" {
			parts = append(parts, fmt.Sprintf("the %s refuses WARC files (%s): %s (%d MiB) %s", receiverText(name), reason,
				plural.Count(s.Waiting[name], "file"), s.WaitingBytes[name]>>20, plural.Verb(s.Waiting[name], "waits", "wait")))
		} else if down := s.DownSeconds[name]; down >= downShown {
			parts = append(parts, fmt.Sprintf("the %s has taken no WARC file for %v: %s (%d MiB) %s", receiverText(name),
				time.Duration(down*float64(time.Second)).Round(time.Second), plural.Count(s.Waiting[name], "file"),
				s.WaitingBytes[name]>>20, plural.Verb(s.Waiting[name], "waits", "wait")))
		}
		if n := s.Damaged[name]; n > 0 {
			parts = append(parts, plural.Count(n, "WARC file")+" not sent: damaged on the disk, see the log and fsck")
		}
	}
	return strings.Join(parts, "; ")
}

// Names of receivers.
const (
	Store   = receipts.Store
	Command = "command"
)

// receiverText is what messages call a receiver.
func receiverText(name string) string {
	if name == Command {
		return "command of --on-warc-close"
	}
	return "upload target (--upload)"
}

// Options say where closed WARC files go. The zero Options send nothing.
type Options struct {
	Target   string `name:"upload" help:"Send each closed WARC file with its index to s3://BUCKET/PREFIX while the crawl runs. Keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials." placeholder:"S3URL"`
	Endpoint string `name:"upload-endpoint" help:"Where the object store is, if it is not Amazon's: https://HOST:PORT. The default is AWS_ENDPOINT_URL, if it is set. The region is AWS_REGION." placeholder:"URL"`
	Parallel int    `name:"upload-parallel" help:"WARC files that are sent at a time." default:"2" least:"1" most:"64" placeholder:"N"`
	Part     int64  `name:"upload-part" help:"Length of the parts of long files. A shorter file is sent in one request." default:"64MiB" type:"size" least:"5MiB" placeholder:"SIZE"`
	Then     Then   `name:"upload-then" type:"word" help:"keep or delete: what becomes of a WARC file that the bucket has. delete removes it here once its object is verified; its index stays. --max-disk then makes the crawl wait while files can be sent." oneof:"keep,delete" default:"keep" placeholder:"MODE"`

	FromStore bool `name:"refresh-from-store" help:"With --refresh, read records of WARC files that were removed here from the bucket: the heads of pages, so that servers are asked for changes, and unchanged pages, for their links. Without it such pages are requested without conditions. The store may charge for it."`

	Command  string        `name:"on-warc-close" help:"Command to run for each closed WARC file, with its name as the last argument. It is split at spaces; no shell is involved. It runs again until its exit status is 0, and after a kill it may run twice for a file." placeholder:"CMD"`
	Commands int           `name:"on-warc-close-parallel" help:"Commands that run at a time." default:"1" least:"1" most:"64" placeholder:"N"`
	TimeMax  time.Duration `name:"on-warc-close-timeout" help:"Time after which a command is killed and counts as failed." default:"1h" least:"1s" placeholder:"TIME"`
	Wait     time.Duration `name:"upload-wait" help:"How long the program waits at the end of a crawl for files that are not sent yet. After a signal it waits 30s at most. The rest is sent by the next run, or by 'orbweaver upload'." default:"10m" zero:"meant" placeholder:"TIME"`
}

// Then says what becomes of a file that all receivers have.
type Then uint8

// The choices, in the order of the flag's words.
const (
	Keep Then = iota
	Delete
)

// IsOff reports whether nothing is sent.
func (o *Options) IsOff() bool { return o.Target == "" && o.Command == "" }

// Validate reports what is wrong with the options.
func (o *Options) Validate() error {
	var faults []error
	if o.Command != "" && len(strings.Fields(o.Command)) == 0 {
		faults = append(faults, fmt.Errorf("--on-warc-close: %q names no program", o.Command))
	}
	if o.Endpoint != "" && o.Target == "" {
		faults = append(faults, errors.New("--upload-endpoint is for --upload"))
	}
	if o.Then == Delete && o.Target == "" {
		faults = append(faults, errors.New("--upload-then delete is for --upload"))
	}
	return errors.Join(faults...)
}
