// Package remote makes the calls of a colltest suite on ranks in other processes, which can be written in any language.
// A [Job] is a command that starts them. Ranks and Job exchange lines of text, which docs/conform.md describes.
package remote
