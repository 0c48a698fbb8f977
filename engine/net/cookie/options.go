package cookie

// Options say whether cookies are kept.
type Options struct {
	Mode Mode `name:"cookies" type:"word" help:"off, or site: a cookie is sent back to the site (scheme, host, port) that set it, and to no other. At most 20 cookies and 4 KiB for each site, in memory, until the crawl stops." oneof:"off,site" default:"off" placeholder:"MODE"`

	Presets *Presets `kong:"-"` // with which the crawl begins; default: none

	Memory int64 `kong:"-" default:"64MiB" type:"size"` // of all sites' cookies
}

// Mode says whether cookies are kept.
type Mode uint8

// The modes, in the order of the flag's words.
const (
	Off Mode = iota
	Site
)
