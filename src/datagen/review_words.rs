//! Sentences of reviews. Lists of three are for good, mixed and bad ratings; `{slots}` are filled in `review_text.rs`.

/// A list of sentences.
pub(crate) type Lines = &'static [&'static str];

pub(crate) const MONTHS: Lines =
    &["January", "February", "March", "April", "May", "June", "September", "October", "November"];

pub(crate) const NUMBERS: Lines = &[
    "churn",
    "gross margin",
    "sales cycle",
    "unit economics",
    "pipeline",
    "cohorts",
    "burn",
    "net retention",
    "pricing",
    "customer acquisition cost",
    "hiring plan",
    "cap table",
];

pub(crate) const EVENTS: Lines = &[
    "a demo day",
    "a trade fair",
    "a founder dinner",
    "a panel",
    "a university meetup",
    "an industry breakfast",
    "a pitch night",
    "a hackathon",
];

pub(crate) const TITLES: [Lines; 3] = [
    &[
        "Fast, fair and straight",
        "Would take their money again",
        "Best process we had this round",
        "Knew our market better than we did",
        "A clear yes after {weeks} weeks",
        "Honest feedback, even before the term sheet",
        "Did the homework",
        "Helpful well beyond the cheque",
        "Founder friendly in deed",
        "{stage} round closed without drama",
        "Partner was present from day one",
        "They keep their word",
        "Answers within {days} days",
        "A no that helped us",
        "The reference calls were all true",
        "Good people, good terms",
        "Worth the trip",
    ],
    &[
        "Fine, not more",
        "Mixed feelings",
        "Polite but slow",
        "Good first call, vague afterwards",
        "Depends on whom you get",
        "Decent process, average terms",
        "Friendly, hard to read",
        "Nice people, long committee",
        "Okay for a {stage} round",
        "Some help, some noise",
        "Two good meetings and a shrug",
        "Neither good nor bad",
        "Clear at the end, not before",
        "Middle of the road",
    ],
    &[
        "Wasted {weeks} weeks of our round",
        "Terms changed at the last minute",
        "Nobody had read the deck",
        "Not for first-time founders",
        "All talk, no term sheet",
        "Pulled out after the handshake",
        "Felt like free market research",
        "Arrogant from the first minute",
        "Avoid if you need speed",
        "Endless data requests, then no",
        "The associate left, and so did our deal",
        "Fished for information",
        "Moving goalposts",
        "We walked away",
    ],
];

pub(crate) const GHOSTED_TITLES: Lines = &[
    "Ghosted after {calls} calls",
    "Still waiting for an answer",
    "Silence since {month}",
    "Never heard back",
    "Vanished after the data room",
    "A maybe that became nothing",
    "No reply, not even a no",
    "Great call, then radio silence",
    "{n} follow-ups, no answer",
];

pub(crate) const REFUSED_TITLES: Lines =
    &["Buy followers now", "test test", "asdf", "My competitor's investor", "!!!!", "Call me for a deal", "READ THIS"];

pub(crate) const REFUSED: Lines = &[
    "Great great great great great.",
    "I know where {who} lives and everybody should too.",
    "Visit our page for cheap pitch decks, {percent} % off until {month}.",
    "I have not met them, but a friend of a friend said they are bad.",
    "test",
    "This is the worst company in the world and all who work there should be ashamed of themselves.",
    "I work here and I can say that we are the best investors in the region.",
    "Copy of my other review. Copy of my other review. Copy of my other review.",
    "Asked {n} times to have my name taken off this list, so I am writing a review instead.",
];

pub(crate) const OPENINGS: Lines = &[
    "We met {who} through a portfolio founder.",
    "Cold e-mail in {month}, first call {days} days later.",
    "We were introduced by one of our angels while raising our {stage} round.",
    "I pitched them at {event} and we set up a call the week after.",
    "They reached out to us after {event}.",
    "We talked to {n} investors for our {stage} round, and they were among the first.",
    "We had known {who} for about {months} months before we raised.",
    "Second time raising, first time talking to them.",
    "We sent the deck in {month} and got a slot within {weeks} weeks.",
    "A scout brought us in when we began our {stage} raise.",
    "Our accelerator set up the meeting.",
    "We applied through the form on their website, without any introduction.",
    "One of our existing investors wanted them in the {stage} round.",
    "We came back to them a year after a first no.",
    "We were {n} people then and raising our {stage} round in the open.",
    "They found us through a customer of ours.",
];

pub(crate) const MEETINGS: [Lines; 3] = [
    &[
        "The first meeting was a real conversation: they had read the deck and asked about {number} within five minutes.",
        "We had {calls} calls in all, each one shorter and sharper than the last.",
        "{who} had used the product before the call and came with a list of bugs, which I loved.",
        "The meeting felt like a working session, and we left with two ideas on {number} that we shipped later.",
        "They told us on the first call what would make them say no, and stuck to it.",
        "They asked hard questions on {number}, listened to the answers and let us finish.",
        "They said openly that {number} was our weak point, and how they would think about it.",
        "From the first call to the term sheet it took {weeks} weeks.",
        "The whole partnership joined the third call, cameras on, nobody on the phone.",
        "They brought in a specialist for our field, who understood our {number} at once.",
        "It was the only firm in our {stage} round where every person in the room had a question.",
        "The agenda came a day ahead and they kept to it.",
    ],
    &[
        "The first call was pleasant but stayed on the surface.",
        "{who} was well prepared, the colleagues who joined later were not.",
        "We had {calls} calls, and in each of them we explained {number} from the start.",
        "The questions on {number} were good, the ones on the market came from a newsletter.",
        "They liked the team, doubted {number}, and could not say what would settle it.",
        "One good meeting, one that was moved {n} times.",
        "We never quite learned who decides.",
        "The pitch went well, the partner meeting less so, and it was hard to tell why.",
        "It took {weeks} weeks to get from the first call to the second.",
        "They were candid about their fund being late in its cycle, which I would have liked to know before the {n} files we sent.",
        "They know consumer companies better than ours, and said so.",
    ],
    &[
        "{who} joined ten minutes late and had not opened the deck.",
        "The call was mostly about themselves.",
        "They asked for the full data room before the first meeting, then asked what we do.",
        "We were interrupted on every slide, and {number} was declared impossible by somebody who had got it wrong.",
        "Our contact changed {n} times and each one began at zero.",
        "They questioned {number} for an hour and had mixed us up with another company.",
        "{calls} calls, {calls} different stories about how they decide.",
        "After the partner meeting they wanted {n} more customer calls and then did not make them.",
        "They looked at their phones for most of the pitch.",
        "We were asked about family plans, which I had hoped was a thing of the past.",
        "The meeting was cut to fifteen minutes when we were already in the lobby.",
        "It became clear that they were backing a competitor and wanted our {number}.",
    ],
];

pub(crate) const MEETINGS_MORE: [Lines; 3] = [
    &[
        "My co-founder, who trusts nobody, said \"finally somebody who can read a spreadsheet\".",
        "They shared their notes afterwards, including the doubts.",
        "No games about other investors, no exploding offers.",
        "Diligence was thorough and took {days} working days.",
        "They spoke to {n} customers and told us what they had heard.",
        "Even the analyst wrote a page of feedback that we still use.",
    ],
    &[
        "To be fair, it was a busy {month} for everybody.",
        "Diligence was lighter than we had expected for a {stage} round.",
        "The analyst did most of the work, and did it well.",
        "They compared us to a company that has little in common with ours.",
        "They asked for our {number} {n} times, in {n} formats.",
        "Nothing was wrong, nothing stood out.",
    ],
    &[
        "\"We like to let founders sweat a little\" is a sentence I have heard there.",
        "We learned later that there had been no free money in the fund since {month}.",
        "They wanted exclusivity for {weeks} weeks before showing any terms.",
        "Our {number} turned up in a conversation with a rival.",
        "They told {n} people about our raise whom we had not told.",
        "Every file was asked for twice.",
    ],
];

pub(crate) const FOLLOW_UPS: [Lines; 3] = [
    &[
        "Follow-up mails were answered the same day.",
        "They promised an answer by Friday and we had it on Thursday.",
        "We always knew where we stood.",
        "{who} answered messages on a Sunday, without being asked to.",
        "After each call there was a short mail with the next step and a date.",
    ],
    &[
        "Answers came, but about {weeks} weeks late.",
        "We had to ask {n} times for the next step, and then it was quick.",
        "Follow-up was fine as long as {who} was not travelling.",
        "Mails took a week, calls worked better.",
    ],
    &[
        "Every follow-up took {weeks} weeks and two reminders.",
        "Promised dates came and went.",
        "We got a calendar link instead of an answer, {n} times.",
        "We wrote, they read, nobody replied until we mentioned another term sheet.",
    ],
];

pub(crate) const GHOSTED: Lines = &[
    "After {calls} good calls we never heard from them again.",
    "Then nothing: no answer to {n} mails, no no.",
    "They asked for the data room, downloaded everything and went silent.",
    "{who} said \"you will hear from us by Friday\"; that was in {month}.",
    "We were ghosted after the partner meeting.",
    "Our last {n} messages were opened (we use a tracker, sorry) and not answered.",
    "The term sheet was \"on its way\" for {weeks} weeks and never arrived.",
    "I ran into {who} at {event} later and was told that they had \"gone another way\".",
    "Silence since {month}, although the intro came from one of their own founders.",
    "A week before the decision they stopped answering, the phone included.",
];

pub(crate) const TERMS: [Lines; 3] = [
    &[
        "The term sheet was two pages of plain language, and nothing changed in the long form.",
        "Fair terms: 1x non-participating, a normal pool, no tricks.",
        "They explained every clause to us and told us which ones to push back on.",
        "When we asked for a smaller pool they agreed on the call.",
        "They left room for our earlier angels, which they did not have to.",
        "Valuation was not the highest we got, the terms were the cleanest.",
    ],
    &[
        "The terms were standard, with a few oddities on information rights.",
        "The term sheet was fair after two rounds of changes.",
        "They opened low, at {percent} % for the round, and met us half-way.",
        "Legal costs on our side were higher than they needed to be.",
        "A board seat for {percent} % was more than we wanted to give, but the market was what it was.",
    ],
    &[
        "The term sheet had 2x participating and full ratchet in it, for a {stage} round.",
        "The valuation dropped by {percent} % a week before signing.",
        "They added a founder vesting restart after the handshake.",
        "They wanted {percent} % for a cheque that covers half a year.",
        "Our lawyer asked whether it was a joke.",
        "They re-traded twice, knowing that we had sent the others away.",
    ],
];

pub(crate) const NOES: [Lines; 3] = [
    &[
        "They passed in the end, and I would still talk to them first next time.",
        "The no from the committee came with reasons, by phone, {days} days later.",
        "It was a no, and a kind one: two pages of what would change their mind.",
        "They said no and introduced us to {n} other investors, one of whom led our round.",
        "They were open about a conflict in their portfolio and sent us on to a better fit.",
    ],
    &[
        "The no came in one line; at least it came.",
        "They passed because of {number}, which we had put on the second slide.",
        "In the end it was \"too early for us\", as so often.",
        "They passed, and left the door open in a way that could mean anything.",
        "The answer was no, {weeks} weeks after the partner meeting.",
    ],
    &[
        "It took {months} months to get a no that was clear after the first call.",
        "We heard of their no through another investor.",
        "They passed, citing {number}, and told others that it was our team.",
        "The reason for the no changed {n} times within a week.",
        "They passed and backed our competitor {weeks} weeks later, with our slides in hand.",
    ],
];

pub(crate) const HELP: [Lines; 3] = [
    &[
        "Since closing they have made {n} introductions, {calls} of which became customers.",
        "They helped us hire our head of sales, from first list to last interview.",
        "Board meetings are short and useful.",
        "When a bank of ours went down, {who} was on the phone within the hour.",
        "Their talent team is worth more than the money.",
        "They opened their notes on {number} from companies like ours.",
        "They led the bridge when nobody else would.",
    ],
    &[
        "Introductions come when asked for, about half of them useful.",
        "There is a platform team, and a lot of webinars.",
        "Help with hiring was okay, with customers less so.",
        "They are present at board meetings and quiet in between.",
        "Good on {number}, of little use elsewhere.",
    ],
    &[
        "The promised network turned out to be a newsletter.",
        "Since the wire we have heard from them when reports were due.",
        "{n} introductions promised, none made.",
        "Advice on {number} came from a blog post, and a wrong one.",
        "They forced an agency on us that one of their partners owns.",
        "Board meetings are about their fund-raising, not about ours.",
    ],
];

pub(crate) const REFERENCES: [Lines; 3] = [
    &[
        "I called {n} founders of theirs, two of them from companies that failed, and all said the same: take it.",
        "References checked out, the unhappy ones included.",
        "They gave us the numbers of founders they had parted with, unasked.",
        "Ask their portfolio; we did, and nobody had to think for long.",
    ],
    &[
        "References were good for one partner and thin for the others.",
        "We called {n} founders: half were happy, half shrugged.",
        "Do your references per partner, not per firm.",
        "Founders of the first fund are happier than those of the second.",
    ],
    &[
        "We should have called references first; {n} founders told us the same story afterwards.",
        "The references they gave were all from the last {months} months.",
        "Talk to founders whose companies went sideways before you sign.",
        "A founder in their portfolio warned us, and we did not listen.",
    ],
];

pub(crate) const VERDICTS: [Lines; 3] = [
    &[
        "I would raise from them again tomorrow.",
        "Recommended, above all for a {stage} round.",
        "Put them early on your list.",
        "If all investors worked like this, rounds would take {weeks} weeks.",
        "A rare case of the website telling the truth.",
        "Thank you, truly.",
    ],
    &[
        "Worth a call, but do not wait for them.",
        "Fine as a second cheque, I would not want them to lead.",
        "We would talk to them again, with lower hopes.",
        "Good for {stage}, less so later.",
        "Three stars because the people are nice.",
        "It depends on the partner; ask who will sit on your board.",
    ],
    &[
        "Spend your {weeks} weeks on somebody else.",
        "Never again.",
        "If they are your only option, keep looking for {weeks} weeks more.",
        "I would not send them a friend.",
        "A pity, because the brand had made us hope.",
        "Get everything in writing.",
    ],
];
