// Package content writes the bytes of a simulated web: pages, in one of many spellings, and robots.txt.
//
// The links of a page are those of the model (simweb.Host.AppendLinks); here they get elements, quotes and spellings.
// Every spelling has one normal form. Text that looks like a link and is none stands beside them, unless
// simweb.Graph.PlainLinks leaves it out.
//
//	Writer.AppendBody -> Writer.appendHTML -> Writer.appendAnchor -> Document.spell -> Document.attribute
//	                                       -> Writer.appendText: paragraphs, or packed segments of package corpus
//	Writer.AppendPayload: the same with its content encoding, for the judge
//
// A Writer is read only and shared. A Document belongs to one connection and is reused: a page costs no allocation.
package content
