package sitemap

// Format says what is being read.
type Format uint8

// The formats.
const (
	None  Format = iota // nothing that has entries
	Pages               // a sitemap: <urlset>
	Index               // an index of sitemaps: <sitemapindex>
	Text                // a sitemap that is a list of URLs, one a line
	Feed                // RSS or Atom
)

// String gives the format's name.
func (f Format) String() string {
	if f > Feed {
		return "unknown"
	}
	return [...]string{"none", "urlset", "sitemapindex", "text", "feed"}[f]
}

// Kind says what an Entry is.
type Kind uint8

// The kinds.
const (
	Page     Kind = iota // what the file is there to name
	Sitemap              // a sitemap that an index names
	Resource             // an image, a video, an enclosure
	Related              // a page in another language, the next page of a feed, an author's page
)

// String gives the kind's name.
func (k Kind) String() string {
	if k > Related {
		return "unknown"
	}
	return [...]string{"page", "sitemap", "resource", "related"}[k]
}

// Entry is one reference, as the file wrote it but for character references and outer white space: not resolved, and in
// a feed perhaps relative. URL is never empty, and is valid until the next call to the Reader.
type Entry struct {
	Kind Kind
	URL  []byte
}

// Summary says what became of a file that has been read to the end.
type Summary struct {
	Format   Format
	Entries  int  // that Next has given
	Long     int  // left out, since they are longer than Options.URLMax
	TooMany  bool // the reading ended at Options.URLs
	TooLarge bool // the reading ended at Options.Bytes
	Err      error
}
