// Package remote has ranks in other processes, written in any language, make the calls of a colltest suite. A [Job] is
// a command that starts them; each rank talks with it in lines of text, which docs/conform.md describes.
package remote
