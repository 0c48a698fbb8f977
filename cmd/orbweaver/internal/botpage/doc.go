// Package botpage holds the command botpage: a page for site owners that says whose crawler this is, what it is for,
// how often it comes, and how it is kept away. It is made from the settings of the crawl.
package botpage
