package upload

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

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
