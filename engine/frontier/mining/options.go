package mining

import (
	"fmt"
	"slices"
	"strings"
)

// Options say which URLs are mined.
type Options struct {
	Mine     []string `help:"Also try URLs that no page links to. ancestors: the folders above each page. siblings: the neighbours of numbered pages, such as page3.html of page2.html. They come after all other URLs of their site. A site may try 20, and 20 more for each page with something new." placeholder:"HOW"`
	MineMost int      `name:"mine-most" help:"Limit of mined URLs for each site and run." default:"2000" least:"1" most:"1000000" placeholder:"N"`
}

// The words of Options.Mine.
const (
	ancestors = "ancestors"
	siblings  = "siblings"
)

// Validate reports a word that is not known.
func (o *Options) Validate() error {
	for _, word := range o.Mine {
		if words := []string{ancestors, siblings}; !slices.Contains(words, word) {
			return fmt.Errorf("--mine: %q is not one of %s", word, strings.Join(words, ", "))
		}
	}
	return nil
}
