package sitemap

// Format is the format of a file.
type Format uint8

// The formats.
const (
	None  Format = iota // no known format
	Pages               // a sitemap: <urlset>
	Index               // a sitemap index: <sitemapindex>
	Text                // a list of URLs, one in each line
	Feed                // RSS or Atom
)

// String returns the format's name.
func (f Format) String() string {
	if f > Feed {
		return "unknown"
	}
	return [...]string{"none", "urlset", "sitemapindex", "text", "feed"}[f]
}

// Kind is the kind of an Entry.
type Kind uint8

// The kinds.
const (
	Page     Kind = iota // a page that the file lists
	Sitemap              // a sitemap that an index lists
	Resource             // an image, a video, an enclosure
	Related              // a page in another language, the next page of a feed, an author's page
	Markup               // no URL, but HTML or text in a feed; see Options.Markup
)

// String returns the kind's name.
func (k Kind) String() string {
	if k > Markup {
		return "unknown"
	}
	return [...]string{"page", "sitemap", "resource", "related", "markup"}[k]
}

// Entry is one reference of the file. Character references are replaced and outer white space is removed, but it is not
// resolved: in a feed it may be relative. URL is never empty, and is valid until the next call to the Reader.
type Entry struct {
	Kind Kind
	URL  []byte // of Markup: the content of the element as written, borrowed from the body
	Base []byte // what URL and the references in the markup are relative to (xml:base), itself relative; nil for none
}

// Summary describes what was read.
type Summary struct {
	Format   Format
	Entries  int  // entries that Next has returned
	Long     int  // entries that were omitted because they are longer than Options.URLMax
	TooMany  bool // reading ended at Options.URLs
	TooLarge bool // reading ended at Options.Bytes
	Err      error
}
