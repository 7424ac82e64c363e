/**
 * Recoup for Pi: tells `recoup hook` what happens, and hands on what it answers.
 *
 * A failure of recoup never becomes one of Pi: whatever goes wrong, nothing is said.
 */
import { spawn } from "node:child_process";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

/** What recoup answers; mostly nothing. */
interface Reply {
	/** For the agent. */
	context?: string;
	/** For the person. */
	notice?: string;
	/** What becomes of the call that is about to start: nothing, unless a rule says so. */
	decision?: "ask" | "deny";
	/** Why, for the person and the agent. */
	reason?: string;
	/** Input of the call that takes the place of the one that is about to start. */
	input?: object;
}

/** Where recoup is. `recoup init` writes the path of the program that it installed. */
const PROGRAM = process.env.RECOUP_BIN ?? "recoup";

/** Longer than recoup itself takes at the most: it leaves after a little more than 5 s. */
const PATIENCE = 6_000;

/** No answer is longer. */
const MOST = 64 * 1024;

export default function recoup(pi: ExtensionAPI): void {
	pi.on("session_start", async (event, ctx) => {
		await told({ type: event.type, reason: event.reason }, ctx);
	});

	pi.on("input", async (event, ctx) => {
		await told({ type: event.type, text: event.text, source: event.source }, ctx);
		return { action: "continue" };
	});

	pi.on("before_agent_start", async (event, ctx) => {
		const prompt = event.messageType === "user" ? event.prompt : "";
		const { context } = await told({ type: event.type, prompt }, ctx);
		if (!context) return;
		return { message: { customType: "recoup", content: context, display: false } };
	});

	pi.on("tool_call", async (event, ctx) => {
		const { type, toolName, toolCallId, input } = event;
		const { decision, reason, input: changed } = await told({ type, toolName, toolCallId, input }, ctx);
		// Pi runs what is in the event's own object.
		if (changed) Object.assign(input, changed);
		if (!decision || !reason) return;
		if (decision === "ask" && (!ctx.hasUI || (await ctx.ui.confirm("recoup", reason)))) return;
		return { block: true, reason };
	});

	pi.on("tool_result", async (event, ctx) => {
		const { type, toolName, toolCallId, input, content, structuredContent, isError } = event;
		const words = content.filter((part) => part.type === "text");
		const { context } = await told(
			{ type, toolName, toolCallId, input, content: words, structuredContent, isError },
			ctx,
		);
		if (!context) return;
		// Pi drops what a tool says to programs when only its text is replaced.
		return { content: [...content, { type: "text", text: context }], structuredContent };
	});

	pi.on("session_before_compact", async (event, ctx) => {
		await told({ type: event.type, reason: event.reason }, ctx);
	});

	pi.on("session_compact", async (event, ctx) => {
		await told({ type: event.type, reason: event.reason }, ctx);
	});

	pi.on("agent_end", async (event, ctx) => {
		await told({ type: event.type, answer: lastAnswer(event.messages) }, ctx);
	});

	pi.on("session_shutdown", async (event, ctx) => {
		await told({ type: event.type, reason: event.reason }, ctx);
	});
}

/** Tells recoup of an event, shows what is for the person, and returns the answer. */
async function told(event: { type: string; [field: string]: unknown }, ctx: ExtensionContext): Promise<Reply> {
	try {
		const sessions = ctx.sessionManager;
		const payload = {
			event,
			session: sessions.getSessionId(),
			file: sessions.getSessionFile(),
			parent: sessions.getHeader?.()?.parentSession,
			cwd: ctx.cwd,
			ui: ctx.hasUI,
		};
		const reply = parsed(await ask(JSON.stringify(payload), ctx.cwd));
		if (reply.notice && ctx.hasUI) ctx.ui.notify(reply.notice, "info");
		return reply;
	} catch {
		return {};
	}
}

/** What recoup prints; empty whenever something is wrong. */
function ask(payload: string, cwd: string): Promise<string> {
	return new Promise((resolve) => {
		const child = spawn(PROGRAM, ["hook", "--client", "pi"], { cwd, stdio: ["pipe", "pipe", "ignore"] });
		let output = "";
		const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE);
		const end = (text: string) => {
			clearTimeout(timer);
			resolve(text);
		};
		child.on("error", () => end(""));
		child.on("close", (code) => end(code === 0 ? output : ""));
		child.stdout.setEncoding("utf8");
		child.stdout.on("data", (text: string) => {
			if (output.length < MOST) output += text;
		});
		// It may be gone before it has read everything.
		child.stdin.on("error", () => {});
		child.stdin.end(payload);
	});
}

function parsed(output: string): Reply {
	if (!output.trim()) return {};
	const reply: unknown = JSON.parse(output);
	if (typeof reply !== "object" || reply === null) return {};
	const { context, notice, decision, reason, input } = reply as Record<string, unknown>;
	return {
		decision: decision === "ask" || decision === "deny" ? decision : undefined,
		reason: typeof reason === "string" ? reason : undefined,
		context: typeof context === "string" ? context : undefined,
		notice: typeof notice === "string" ? notice : undefined,
		input: typeof input === "object" && input !== null ? input : undefined,
	};
}

/** The words of the last answer, for the rules that it cites. */
function lastAnswer(messages: readonly { role: string }[]): string | undefined {
	const last = messages.findLast((message) => message.role === "assistant");
	if (!last || !("content" in last) || !Array.isArray(last.content)) return undefined;
	const texts = last.content.flatMap((part: { type?: unknown; text?: unknown }) =>
		part.type === "text" && typeof part.text === "string" ? [part.text] : [],
	);
	return texts.join("\n") || undefined;
}
