// What the adapters in this folder share: a rank's side of the line protocol that docs/conform.md describes. An adapter says
// what it can do, and then calls serve with a function that makes one call, or serve_with with more functions.
#ifndef ADAPTER_H
#define ADAPTER_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct buffer {
	char *at;    // NULL: this rank does not pass the buffer
	int blocks;  // in it
	int *counts; // elements of each block
	int *starts; // first element of each block
	int total;   // elements of all blocks
	int displaced; // blocks have gaps between them, or another order
};

struct call {
	char primitive[32], type[16], op[16]; // op "-": none
	int root, peer, in_place, uneven;     // uneven: each block has a count of its own
	int comm, tag;                        // the number of a communicator, 0: that of all ranks
	struct buffer in, out;

	uint64_t own[4]; // the adapter's: zeros at first

	int id, prepared;
	char *memory;
	size_t bytes;
	int is_file; // memory is a mapping of collgen's
	struct call *next;
};

// Each function returns NULL, or what is wrong. If this begins with "cannot ", the library does not have the call. Those that an adapter does not offer are NULL.
struct functions {
	const char *(*invoke)(struct call *);  // makes the call
	const char *(*start)(struct call *);   // begins it
	const char *(*wait)(struct call *);    // ends what start or begin has begun
	const char *(*prepare)(struct call *); // prepares a persistent call
	const char *(*begin)(struct call *);   // begins what was prepared
	const char *(*drop)(struct call *);    // frees it
	const char *(*split)(int comm, int color, int key); // color -1: this rank gets no communicator
	const char *(*free)(int comm);
	const char *(*batch)(int begin); // around calls that are started together: 1 before them, 0 after them
	int tags;                        // messages have tags
};

static FILE *from_collgen, *to_collgen;
static struct call *open_calls; // started or prepared
static int current_comm, current_tag;

// fail ends the program: the two sides do not understand each other.
static inline void fail(const char *what) {
	fprintf(stderr, "adapter: %s\n", what);
	exit(2);
}

// say writes a line.
static inline void say(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vfprintf(to_collgen, format, args);
	va_end(args);
	fputc('\n', to_collgen);
}

// introduce connects to collgen, or takes standard input and output if there is nothing to connect to, and says the beginning
// of the hello. The adapter goes on with lines "types", "ops" and "primitive".
static inline void introduce(int rank, int size, const char *name) {
	const char *path = getenv("COLLGEN_CONFORM");
	from_collgen = stdin, to_collgen = stdout;
	if (path) {
		struct sockaddr_un address;
		int s = socket(AF_UNIX, SOCK_STREAM, 0);
		memset(&address, 0, sizeof address);
		address.sun_family = AF_UNIX;
		if (strlen(path) >= sizeof address.sun_path) fail("COLLGEN_CONFORM is too long");
		strcpy(address.sun_path, path);
		if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address)) fail("cannot connect to COLLGEN_CONFORM");
		from_collgen = fdopen(s, "r"), to_collgen = fdopen(dup(s), "w");
	}
	say("collgen-conform 1");
	say("rank %d of %d", rank, size);
	say("name %s", name);
}

// A call's words are separated by one space each.
static inline char *word(char **rest) {
	char *w = strsep(rest, " ");
	if (!w) fail("a call with too few words");
	return w;
}

static inline int number(char **rest) { return atoi(word(rest)); }

static inline void copy_word(char *to, size_t size, char **rest) { snprintf(to, size, "%s", word(rest)); }

static inline void parse_counts(struct buffer *b, char *text) {
	memset(b, 0, sizeof *b);
	if (!strcmp(text, "-")) return;
	int most = 1;
	for (char *c = text; *c; c++) most += *c == ',';
	b->counts = (int *)calloc((size_t)most, sizeof(int)), b->starts = (int *)calloc((size_t)most, sizeof(int));
	for (char *c; (c = strsep(&text, ","));) {
		char *start = strchr(c, '@');
		b->counts[b->blocks] = atoi(c), b->starts[b->blocks] = start ? atoi(start + 1) : b->total;
		b->displaced |= start != NULL;
		b->total += b->counts[b->blocks];
		b->blocks++;
	}
}

static inline int digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

// map maps the file with the call's memory.
static inline void map(struct call *c, const char *path) {
	int f = open(path, O_RDWR);
	void *at = f < 0 ? MAP_FAILED : mmap(NULL, c->bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	if (at == MAP_FAILED) fail("the file with the memory of a call cannot be mapped");
	close(f);
	c->memory = (char *)at, c->is_file = 1;
}

// fill gives the call's memory the bytes of a word: digits, or @ and the name of a file.
static inline void fill(struct call *c, const char *digits) {
	if (c->is_file && *digits == '@') return;
	if (*digits == '@') {
		map(c, digits + 1);
		return;
	}
	void *at = c->memory;
	if (strlen(digits) != 2 * c->bytes || (!at && posix_memalign(&at, 64, c->bytes + 1))) fail("a call without its memory");
	c->memory = (char *)at;
	for (size_t i = 0; i < c->bytes; i++) c->memory[i] = (char)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
}

// parse returns the call of a line without its first word.
static inline struct call *parse(char *rest, int id) {
	struct call *c = (struct call *)calloc(1, sizeof *c);
	c->id = id, c->comm = current_comm, c->tag = current_tag;
	copy_word(c->primitive, sizeof c->primitive, &rest);
	copy_word(c->type, sizeof c->type, &rest);
	copy_word(c->op, sizeof c->op, &rest);
	c->root = number(&rest), c->peer = number(&rest);
	c->in_place = !strcmp(word(&rest), "in-place");
	c->uneven = !strcmp(word(&rest), "uneven");
	size_t in_at = strtoul(word(&rest), NULL, 10);
	parse_counts(&c->in, word(&rest));
	size_t out_at = strtoul(word(&rest), NULL, 10);
	parse_counts(&c->out, word(&rest));
	c->bytes = strtoul(word(&rest), NULL, 10);
	fill(c, word(&rest));
	if (c->in.counts) c->in.at = c->memory + in_at;
	if (c->out.counts) c->out.at = c->memory + out_at;
	return c;
}

static inline void forget(struct call *c) {
	for (struct call **at = &open_calls; *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	if (c->is_file) munmap(c->memory, c->bytes + 1);
	else free(c->memory);
	free(c->in.counts), free(c->in.starts), free(c->out.counts), free(c->out.starts), free(c);
}

static inline struct call *opened(int id) {
	for (struct call *c = open_calls; c; c = c->next)
		if (c->id == id) return c;
	fail("there is no call with this number");
	return NULL;
}

// complain says what is wrong.
static inline void complain(const char *error) { say("%s%s", strncmp(error, "cannot ", 7) ? "error " : "", error); }

// answer says that a call is over, with what has become of its memory.
static inline void answer(struct call *c, const char *error) {
	if (error) {
		complain(error);
	} else if (c->is_file) {
		say("done @");
	} else {
		fputs("done ", to_collgen);
		for (size_t i = 0; i < c->bytes; i++) {
			fputc("0123456789abcdef"[(unsigned char)c->memory[i] >> 4], to_collgen);
			fputc("0123456789abcdef"[c->memory[i] & 15], to_collgen);
		}
		fputc('\n', to_collgen);
	}
}

// say_or says a word, or what is wrong.
static inline void say_or(const char *error, const char *word) {
	if (error) complain(error);
	else say("%s", word);
}

// begin_call starts or prepares the call of a line, keeps it, and returns what is wrong.
static inline const char *begin_call(char *rest, const char *(*how)(struct call *), int prepared) {
	int id = number(&rest);
	struct call *c = parse(rest, id);
	c->prepared = prepared, c->next = open_calls, open_calls = c;
	const char *error = how(c);
	if (error) forget(c);
	return error;
}

// next_line reads a line, and returns NULL after the last one.
static inline char *next_line(void) {
	static char *line;
	static size_t size;
	ssize_t n = getline(&line, &size, from_collgen);
	if (n <= 0) return NULL;
	if (line[n - 1] == '\n') line[n - 1] = 0;
	return line;
}

static inline int is_setting(const char *w) { return !strcmp(w, "comm") || !strcmp(w, "tag"); }

static inline void set(const char *w, char *rest) { *(*w == 'c' ? &current_comm : &current_tag) = atoi(rest); }

// start_batch starts calls together, and then says of each what has come of it.
static inline void start_batch(int n, const struct functions *f) {
	const char **errors = (const char **)calloc((size_t)n, sizeof *errors);
	const char *all = f->batch ? f->batch(1) : NULL;
	for (int i = 0; i < n;) {
		char *rest = next_line(), *w;
		if (!rest) fail("a batch that does not end");
		if (is_setting(w = word(&rest))) set(w, rest);
		else errors[i++] = begin_call(rest, f->start, 0);
	}
	if (f->batch && !all) all = f->batch(0);
	for (int i = 0; i < n; i++) say_or(errors[i] ? errors[i] : all, "started");
	free(errors);
}

// perform carries out a line, and answers it.
static inline void perform(char *rest, const struct functions *f) {
	const char *w = word(&rest);
	if (is_setting(w)) {
		set(w, rest);
	} else if (!strcmp(w, "call")) {
		struct call *c = parse(rest, 0);
		answer(c, f->invoke(c));
		forget(c);
	} else if (!strcmp(w, "start")) {
		say_or(begin_call(rest, f->start, 0), "started");
	} else if (!strcmp(w, "batch")) {
		start_batch(number(&rest), f);
	} else if (!strcmp(w, "prepare")) {
		say_or(begin_call(rest, f->prepare, 1), "prepared");
	} else if (!strcmp(w, "begin")) {
		struct call *c = opened(number(&rest));
		fill(c, word(&rest));
		say_or(f->begin(c), "started");
	} else if (!strcmp(w, "wait")) {
		struct call *c = opened(number(&rest));
		answer(c, f->wait(c));
		if (!c->prepared) forget(c);
	} else if (!strcmp(w, "drop")) {
		struct call *c = opened(number(&rest));
		say_or(f->drop(c), "dropped");
		forget(c);
	} else if (!strcmp(w, "split")) {
		int comm = number(&rest);
		const char *color = word(&rest);
		say_or(f->split(comm, strcmp(color, "-") ? atoi(color) : -1, number(&rest)), "split");
	} else if (!strcmp(w, "free")) {
		say_or(f->free(number(&rest)), "freed");
	} else {
		fail("a line that is not known");
	}
}

// serve_with ends the hello, and does what collgen says until there is no more.
static inline void serve_with(const struct functions *f) {
	say("calls%s%s%s%s%s", f->start ? " start" : "", f->start && f->batch ? " batch" : "", f->prepare ? " prepare" : "",
	    f->split ? " split" : "", f->tags ? " tags" : "");
	say("memory file");
	say("ready");
	fflush(to_collgen);
	for (char *line; (line = next_line()) && strcmp(line, "end");) {
		perform(line, f);
		fflush(to_collgen);
	}
}

// serve does so with calls alone.
static inline void serve(const char *(*invoke)(struct call *)) {
	struct functions f;
	memset(&f, 0, sizeof f);
	f.invoke = invoke;
	serve_with(&f);
}

#endif
